// SPDX-License-Identifier: Apache-2.0
// The C++ frames of walk.c: a namespace, a class template, a function template. No library.
extern "C" int walk_variable(int n);
extern "C" void walk_cxx(int n);

namespace demo
{

template <int N> __attribute__((noinline)) int lift(int n)
{
	return walk_variable(n + N) + N;
}

template <typename T> struct Box {
	T value;
	__attribute__((noinline)) T twice(T by);
};

template <typename T> T Box<T>::twice(T by)
{
	return lift<7>(static_cast<int>(by)) * 2 + value;
}

__attribute__((noinline)) int run(int n)
{
	Box<int> box = { n };

	return box.twice(n) + box.value;
}

} // namespace demo

static volatile int sink;

void walk_cxx(int n)
{
	sink = demo::run(n);
}
