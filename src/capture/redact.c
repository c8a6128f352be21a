// SPDX-License-Identifier: Apache-2.0
/*
 * Finds secrets by the name in front of them, by their place in a URL, or by their shape. In doubt
 * it hides too much: a command line that lost an argument is an annoyance, a stored key is a leak.
 */
#include "capture/redact.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <strings.h>

#include "base/util.h"

static const char *const secret_words[] = {
	"key",  "token",  "secret",     "password", "passwd", "passphrase",
	"auth", "bearer", "credential", "cookie",   "_pwd",   "-pwd",
};

/* Words that begin like a secret's name and are none, on many an ML command line. */
static const char *const plain_words[] = {
	"tokeniz",  "tokenis",  "keyword",   "keypoint",
	"keyframe", "keyboard", "key-value", "key_value",
};

static const struct {
	const char *prefix;
	size_t min; /* characters that must follow */
	bool dashes; /* they may contain - _ and . */
} shapes[] = {
	{ "hf_", 8, false },      { "ghp_", 8, false },       { "gho_", 8, false },
	{ "ghu_", 8, false },     { "ghs_", 8, false },       { "ghr_", 8, false },
	{ "npm_", 16, false },    { "AKIA", 12, false },      { "ASIA", 12, false },
	{ "glpat-", 8, true },    { "github_pat_", 8, true }, { "sk-", 16, true },
	{ "xoxa-", 8, true },     { "xoxb-", 8, true },       { "xoxp-", 8, true },
	{ "xoxs-", 8, true },     { "nvapi-", 8, true },      { "pypi-", 16, true },
	{ "AIza", 16, true },     { "eyJ", 16, true },        { "ya29.", 8, true },
	{ "dckr_pat_", 8, true },
};

struct out {
	char *dst;
	size_t len, cap;
	bool cut;
};

/* What to do with the word that comes next. */
enum pending { SHOW, HIDE, HIDE_UNLESS_NUMBER, HIDE_AFTER_COLON };

/* One argument, and how far we are in it. */
struct scan {
	const char *s;
	size_t n, at;
	enum pending pending;
	struct out *out;
};

static void put(struct out *o, const char *s, size_t n)
{
	size_t room = o->cap - 1 - o->len;

	if (n > room) {
		n = room;
		o->cut = true;
	}
	memcpy(o->dst + o->len, s, n);
	o->len += n;
}

static void put_hidden(struct out *o)
{
	put(o, "***", 3);
}

/* Show what lies between here and there. */
static void show_to(struct scan *sc, size_t to)
{
	put(sc->out, sc->s + sc->at, to - sc->at);
	sc->at = to;
}

static void hide_to(struct scan *sc, size_t to)
{
	put_hidden(sc->out);
	sc->at = to;
}

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.';
}

static bool is_quote(char c)
{
	return c == '"' || c == '\'' || c == '`';
}

static bool ends_word(char c)
{
	return isspace((unsigned char)c) || is_quote(c) || c == '&' || c == ';' || c == '|';
}

static size_t skip_spaces(const struct scan *sc, size_t at)
{
	while (at < sc->n && isspace((unsigned char)sc->s[at]))
		at++;
	return at;
}

static size_t word_end(const struct scan *sc, size_t at)
{
	while (at < sc->n && !ends_word(sc->s[at]))
		at++;
	return at;
}

static size_t find_char(const struct scan *sc, size_t at, size_t end, char c)
{
	while (at < end && sc->s[at] != c)
		at++;
	return at;
}

static bool is_number(const char *s, size_t n)
{
	size_t i = 0;

	while (i < n && isdigit((unsigned char)s[i]))
		i++;
	return n && i == n && n <= 9;
}

static bool begins(const char *s, size_t n, const char *word)
{
	size_t len = strlen(word);

	return n >= len && strncasecmp(s, word, len) == 0;
}

/* An author is no authorization, a tokenizer no token. */
static bool is_plain(const char *s, size_t n)
{
	for (size_t i = 0; i < ARRAY_LEN(plain_words); i++)
		if (begins(s, n, plain_words[i]))
			return true;
	return begins(s, n, "author") && !begins(s, n, "authori");
}

/* Does this name announce a secret? "max_tokens" and "eos_token_id" do unless a number follows. */
static enum pending judge_name(const char *s, size_t n)
{
	enum pending judged = SHOW;

	for (size_t i = 0; i < n; i++) {
		if (is_plain(s + i, n - i))
			continue;
		if (begins(s + i, n - i, "tokens") || begins(s + i, n - i, "token_id") ||
		    begins(s + i, n - i, "token-id")) {
			judged = HIDE_UNLESS_NUMBER;
			continue;
		}
		for (size_t w = 0; w < ARRAY_LEN(secret_words); w++)
			if (begins(s + i, n - i, secret_words[w]))
				return HIDE;
	}
	return n == 3 && begins(s, n, "sig") ? HIDE : judged;
}

/* Ends in a secret's name, as in `set aws_secret_access_key VALUE` without any dash. */
static bool ends_secret(const char *s, size_t n)
{
	for (size_t w = 0; w < ARRAY_LEN(secret_words); w++) {
		size_t len = strlen(secret_words[w]);

		if (n >= len && strncasecmp(s + n - len, secret_words[w], len) == 0)
			return true;
	}
	return n == 5 && begins(s, n, "login");
}

/* Letters alone, in one case, are a word unless there are many of them. */
static bool is_random(const char *s, size_t n, size_t min, bool dashes)
{
	size_t run = 0;
	bool marked = false;

	while (run < n && (dashes || isalnum((unsigned char)s[run]))) {
		marked |= isdigit((unsigned char)s[run]) || isupper((unsigned char)s[run]);
		run++;
	}
	return run >= min && (marked || (run >= 20 && !dashes));
}

static bool is_shape(const char *s, size_t n)
{
	for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
		size_t len = strlen(shapes[i].prefix);

		if (n > len && !strncmp(s, shapes[i].prefix, len) &&
		    is_random(s + len, n - len, shapes[i].min, shapes[i].dashes))
			return true;
	}
	return false;
}

/* Show a name, or hide it from where it begins to look like a secret itself. */
static void take_name(struct scan *sc, size_t end)
{
	for (size_t i = sc->at; i < end; i++) {
		if (i > sc->at && isalnum((unsigned char)sc->s[i - 1]))
			continue;
		if (!is_shape(sc->s + i, end - i))
			continue;
		show_to(sc, i);
		while (end < sc->n && (is_name(sc->s[end]) || strchr("+/=~", sc->s[end])))
			end++;
		hide_to(sc, end);
		return;
	}
	show_to(sc, end);
}

/* Behind "scheme://": the user and password, in whatever form people wrote them. */
static void take_url(struct scan *sc)
{
	size_t end = sc->at, host_end = sc->at, at, colon;

	while (end < sc->n && !isspace((unsigned char)sc->s[end]) && !is_quote(sc->s[end]))
		end++;
	at = end;
	while (host_end < end && !strchr("/?#", sc->s[host_end]))
		host_end++;
	for (size_t i = sc->at; i < host_end; i++)
		if (sc->s[i] == '@')
			at = i;
	colon = find_char(sc, sc->at, host_end, ':');
	if (at == end && colon + 1 < host_end && sc->s[sc->at] != '[' &&
	    !is_number(sc->s + colon + 1, host_end - colon - 1)) {
		/* No port: a password with a slash in it, or one that was cut off. */
		at = find_char(sc, colon, end, '@');
		if (at == end) {
			show_to(sc, colon + 1);
			hide_to(sc, end);
			return;
		}
	}
	if (at < end)
		hide_to(sc, at);
}

/* Hide the value that starts here; `whole`: the argument holds nothing else. */
static void hide_value(struct scan *sc, bool whole, bool spaced)
{
	size_t end;

	if (whole) {
		end = sc->n;
	} else if (is_quote(sc->s[sc->at])) {
		char quote = sc->s[sc->at];

		show_to(sc, sc->at + 1);
		end = find_char(sc, sc->at, sc->n, quote);
	} else if (spaced) { /* a header: its value has several words */
		end = sc->at;
		while (end < sc->n && !is_quote(sc->s[end]) && sc->s[end] != '\n')
			end++;
	} else {
		end = word_end(sc, sc->at);
	}
	hide_to(sc, end);
}

/*
 * A secret's name was shown up to here. Hide what it names if that is in this argument: behind
 * '=' or ':', also through a closing quote as in JSON, or simply the next word.
 */
static void after_name(struct scan *sc, enum pending judged, bool whole, bool flag)
{
	size_t at = sc->at, value;
	bool spaced;

	while (at < sc->n && (is_quote(sc->s[at]) || sc->s[at] == '\\' || sc->s[at] == ']'))
		at++;
	at = skip_spaces(sc, at);
	if (at < sc->n && (sc->s[at] == '=' || sc->s[at] == ':')) {
		value = skip_spaces(sc, at + 1);
		spaced = value > at + 1;
		show_to(sc, value);
		if (value == sc->n) {
			if (spaced || sc->s[at] == ':')
				sc->pending = judged;
			return;
		}
		if (judged == HIDE_UNLESS_NUMBER &&
		    is_number(sc->s + value, word_end(sc, value) - value))
			return;
		hide_value(sc, whole, spaced && sc->s[at] == ':');
	} else if (flag && (at == sc->n || at > sc->at)) {
		show_to(sc, at);
		sc->pending = judged;
	}
}

/* Apply what an earlier name asked for to the word here; false: it is to be shown after all. */
static bool take_pending(struct scan *sc, bool whole)
{
	enum pending pending = sc->pending;
	size_t end = whole ? sc->n : word_end(sc, sc->at), colon;

	sc->pending = SHOW;
	if (pending == SHOW || begins(sc->s + sc->at, sc->n - sc->at, "--"))
		return false;
	if (pending == HIDE_UNLESS_NUMBER && is_number(sc->s + sc->at, end - sc->at))
		return false;
	if (pending == HIDE_AFTER_COLON) {
		colon = find_char(sc, sc->at, end, ':');
		if (colon == end)
			return false;
		show_to(sc, colon + 1);
		hide_to(sc, end);
		return true;
	}
	/* "Bearer X" and "Basic X" are two words of one secret. */
	if (!whole && (begins(sc->s + sc->at, end - sc->at, "bearer") ||
		       begins(sc->s + sc->at, end - sc->at, "basic")))
		sc->pending = HIDE;
	hide_value(sc, whole, false);
	return true;
}

static void take_word(struct scan *sc)
{
	size_t start = sc->at, end = start, n;
	bool dash = sc->s[start] == '-', path = start && sc->s[start - 1] == '/';
	bool whole = !start || (start == 1 && sc->s[0] != '{' && !is_quote(sc->s[0]));
	const char *name = sc->s + start;
	enum pending judged;

	while (end < sc->n && is_name(sc->s[end]))
		end++;
	n = end - start;
	if (n >= 10 && begins(name, n, "-----BEGIN")) {
		hide_to(sc, sc->n);
		return;
	}
	take_name(sc, end);
	if (sc->at != end)
		return;
	if (sc->n - end >= 3 && !strncmp(sc->s + end, "://", 3)) {
		show_to(sc, end + 3);
		take_url(sc);
		return;
	}
	judged = judge_name(name, n);
	if (judged != SHOW)
		after_name(sc, judged, whole, dash || (!path && ends_secret(name, n)));
	else if (n == 5 && begins(name, n, "login") && !path)
		after_name(sc, HIDE, false, true);
	else if (dash &&
		 ((n == 2 && name[1] == 'u') || (n >= 6 && begins(name + n - 5, 5, "-user"))))
		after_name(sc, HIDE_AFTER_COLON, whole, true);
}

static enum pending redact_arg(struct out *o, const char *s, size_t n, enum pending pending)
{
	struct scan sc = { .s = s, .n = n, .pending = pending, .out = o };

	if (n && take_pending(&sc, true))
		return sc.pending;
	while (sc.at < n) {
		if (sc.pending != SHOW && !isspace((unsigned char)s[sc.at])) {
			if (take_pending(&sc, false))
				continue;
		}
		if (is_name(s[sc.at]))
			take_word(&sc);
		else
			show_to(&sc, sc.at + 1);
	}
	return n ? sc.pending : pending;
}

void redact_args(const char *args, size_t len, char *dst, size_t cap)
{
	struct out o = { .dst = dst, .cap = cap };
	enum pending pending = SHOW;

	for (size_t at = 0; at < len;) {
		size_t n = strnlen(args + at, len - at);

		if (at)
			put(&o, " ", 1);
		pending = redact_arg(&o, args + at, n, pending);
		at += n + 1;
	}
	if (o.cut)
		memcpy(dst + cap - 4, "...", 3);
	dst[o.len] = '\0';
}
