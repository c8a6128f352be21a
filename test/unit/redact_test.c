// SPDX-License-Identifier: Apache-2.0
#include "capture/redact.h"

#include <stdint.h>

#include "base/util.h"
#include "test/test.h"

/* Arguments are written with | between them. */
struct redact_case {
	const char *args, *want;
};

static int check_all(const struct redact_case *cases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char args[512], got[512];
		size_t len = strlen(cases[i].args);

		memcpy(args, cases[i].args, len + 1);
		for (size_t k = 0; k < len; k++)
			if (args[k] == '|')
				args[k] = '\0';
		redact_args(args, len, got, sizeof(got));
		CHECK_STR(got, cases[i].want);
	}
	return 0;
}

TEST(redact_leaves_ordinary_command_lines_alone)
{
	static const struct redact_case cases[] = {
		{ "", "" },
		{ "python3|train.py|--lr|0.1", "python3 train.py --lr 0.1" },
		{ "a||b", "a  b" },
		{ "/opt/auth|serve", "/opt/auth serve" },
		{ "ssh-keygen|-t|ed25519", "ssh-keygen -t ed25519" },
		{ "vllm|serve|--tokenizer|meta-llama/Llama-3",
		  "vllm serve --tokenizer meta-llama/Llama-3" },
		{ "--tokenizer-mode=auto", "--tokenizer-mode=auto" },
		{ "--max-num-batched-tokens|8192", "--max-num-batched-tokens 8192" },
		{ "--max_new_tokens=128", "--max_new_tokens=128" },
		{ "--eos_token_id=2", "--eos_token_id=2" },
		{ "--num-key-value-heads|8", "--num-key-value-heads 8" },
		{ "--author|Bob", "--author Bob" },
		{ "--keyword=x", "--keyword=x" },
		{ "http://localhost:8000/v1", "http://localhost:8000/v1" },
		{ "http://[::1]:8000/v1", "http://[::1]:8000/v1" },
		{ "git+https://github.com/x/y@v2.1", "git+https://github.com/x/y@v2.1" },
		{ "--hf_config_path=x", "--hf_config_path=x" },
		{ "hf_transfer", "hf_transfer" },
		{ "python|-u|train.py", "python -u train.py" },
		{ "--user|alice", "--user alice" },
		{ "sk-learn-something-long", "sk-learn-something-long" },
	};

	return check_all(cases, ARRAY_LEN(cases));
}

TEST(redact_hides_the_value_of_a_flag)
{
	static const struct redact_case cases[] = {
		{ "x|--token|abc|--lr|1", "x --token *** --lr 1" },
		{ "--token=abc|y", "--token=*** y" },
		{ "--token=a b c|y", "--token=*** y" },
		{ "--API-KEY|abc", "--API-KEY ***" },
		{ "--api_key=abc", "--api_key=***" },
		{ "-password|abc", "-password ***" },
		{ "--password|-abc", "--password ***" },
		{ "--db-passwd|abc|x", "--db-passwd *** x" },
		{ "--use-auth|--epochs|5", "--use-auth --epochs 5" },
		{ "--client-secret|abc", "--client-secret ***" },
		{ "--bearer|abc", "--bearer ***" },
		{ "--credentials|abc", "--credentials ***" },
		{ "--authorization=abc", "--authorization=***" },
		{ "--tokens|abc", "--tokens ***" },
		{ "--tokens=1,2", "--tokens=***" },
		{ "--token", "--token" },
		{ "--token|", "--token" },
		{ "--token||abc", "--token  ***" },
		{ "--tokenizer-key=abc", "--tokenizer-key=***" },
		{ "+wandb.api_key=a b", "+wandb.api_key=***" },
		{ "curl|-u|bob:pw|http://x", "curl -u bob:*** http://x" },
		{ "--proxy-user|bob:pw", "--proxy-user bob:***" },
	};

	return check_all(cases, ARRAY_LEN(cases));
}

TEST(redact_hides_the_value_of_a_variable)
{
	static const struct redact_case cases[] = {
		{ "env|HF_TOKEN=abc|python", "env HF_TOKEN=*** python" },
		{ "env|PASSWORD=my pass phrase|python", "env PASSWORD=*** python" },
		{ "MYSQL_PWD=abc", "MYSQL_PWD=***" },
		{ "PWD=/home", "PWD=/home" },
		{ "-e|AWS_SECRET_ACCESS_KEY=abc", "-e AWS_SECRET_ACCESS_KEY=***" },
		{ "aws|set|aws_secret_access_key|abc", "aws set aws_secret_access_key ***" },
		{ "wandb|login|0123456789abcdef", "wandb login ***" },
		{ "--env=API_KEY=abc", "--env=API_KEY=***" },
	};

	return check_all(cases, ARRAY_LEN(cases));
}

TEST(redact_reads_into_shell_commands_headers_and_json)
{
	static const struct redact_case cases[] = {
		{ "sh|-c|cd x; HF_TOKEN=abc python t.py --lr 1",
		  "sh -c cd x; HF_TOKEN=*** python t.py --lr 1" },
		{ "sh|-c|run --token abc --lr 1", "sh -c run --token *** --lr 1" },
		{ "sh|-c|run --token 'a b' --lr 1", "sh -c run --token '***' --lr 1" },
		{ "sh|-c|run --token=\"a b\" --lr 1", "sh -c run --token=\"***\" --lr 1" },
		{ "curl|-H|Authorization: Bearer abc|url", "curl -H Authorization: *** url" },
		{ "sh|-c|curl -H \"Authorization: Bearer abc\" url",
		  "sh -c curl -H \"Authorization: ***\" url" },
		{ "bearer abc", "bearer ***" },
		{ "{\"api_key\": \"abc\", \"lr\": 3}", "{\"api_key\": \"***\", \"lr\": 3}" },
		{ "{\"token\":\"abc\",\"x\":\"y\"}", "{\"token\":\"***\",\"x\":\"y\"}" },
		{ "{'secret':'abc'}", "{'secret':'***'}" },
		{ "-----BEGIN RSA PRIVATE KEY----- abc def", "***" },
	};

	return check_all(cases, ARRAY_LEN(cases));
}

TEST(redact_hides_who_logs_in_by_url)
{
	static const struct redact_case cases[] = {
		{ "postgres://bob:pw@db/x", "postgres://***@db/x" },
		{ "--uri=redis://:pw@db:6379", "--uri=redis://***@db:6379" },
		{ "https://ghp_a@github.com/x", "https://***@github.com/x" },
		{ "mysql://bob:p/w@db/x", "mysql://***@db/x" },
		{ "mysql://bob:p&w@db/x", "mysql://***@db/x" },
		{ "mysql://bob:p@w@db/x", "mysql://***@db/x" },
		{ "mysql://bob:cut", "mysql://bob:***" },
		{ "http://x/?token=abc&y=1", "http://x/?token=***&y=1" },
		{ "http://x/a?sig=abc", "http://x/a?sig=***" },
	};

	return check_all(cases, ARRAY_LEN(cases));
}

TEST(redact_knows_secrets_by_their_shape)
{
	static const struct redact_case cases[] = {
		{ "x|hf_AbCdEfGhIjKl|y", "x *** y" },
		{ "hf_abcdefghijklmnopqrstuvwxyz", "***" },
		{ "--x=hf_AbCdEfGhIjKl", "--x=***" },
		{ "ghp_0123456789abcdefABCD", "***" },
		{ "github_pat_11ABC_def0123456789", "***" },
		{ "AKIAIOSFODNN7EXAMPLE", "***" },
		{ "sk-proj-Ab12Cd34Ef56Gh78", "***" },
		{ "xoxb-1234-5678-abcd", "***" },
		{ "a,eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx.c2ln,b", "a,***,b" },
		{ "glpat-AbCdEf012345", "***" },
		{ "notghp_0123456789", "notghp_0123456789" },
	};

	return check_all(cases, ARRAY_LEN(cases));
}

TEST(redact_says_that_it_cut_something_off)
{
	char got[16];

	redact_args("0123456789abcde", 15, got, sizeof(got));
	CHECK_STR(got, "0123456789abcde");
	redact_args("0123456789abcdef", 16, got, sizeof(got));
	CHECK_STR(got, "0123456789ab...");
	redact_args("x\0--token\0abcdefghijklmnop", 26, got, sizeof(got));
	CHECK_STR(got, "x --token ***");
	return 0;
}
