/* SPDX-License-Identifier: MIT */
/* Hits the tracepoints of types.tp, and looks at what probes get: texts of a TP_OUTPUT are for the test. */
#include <cstdio>
#include <cstdlib>

#include <tp/tp.h>

#define CREATE_TRACE_POINTS
#include "types.h"

static int registered;

int types_first()
{
	registered++;
	return 0;
}

void types_last()
{
	registered--;
}

static void expect(bool condition, const char *what)
{
	if (condition)
		return;
	std::fprintf(stderr, "not so: %s\n", what);
	std::exit(1);
}
#define EXPECT(condition) expect(condition, #condition)

static void hit_texts()
{
	static const char letters[] = {'a', 'b', 'c', 'd'}; /* without a NUL */
	std::vector<char> both(letters, letters + 2);

	trace_types_texts({letters, 4}, std::string("text"), "pointer", both);
	trace_types_texts({}, {}, nullptr, {});
	trace_types_texts("ab", std::string("with\0NUL", 8), "p", {'x', '\0', 'y'});
	trace_types_texts(std::string_view(letters, 0), std::string(300, 'l'), "", {'z'});
}

static void hit_classes()
{
	const net::connection connection(7);
	const std::map<int, std::vector<int>> ports = {{1, {}}, {2, {}}};
	const std::vector<int> numbers = {42};
	net::box<int> box = {1};
	int count = 3;

	trace_types_classes(net::state::open, net::MINUS, {1, 2}, connection, count, ports, &box, numbers.begin(),
			    [](int a, int b) { return a + b; });
	trace_types_classes(net::state(9), net::ONE, {3, 4}, connection, count, {}, nullptr, numbers.begin(),
			    [](int a, int b) { return a * b; });
}

struct seen {
	int hits;
	static void count(void *data, int)
	{
		static_cast<seen *>(data)->hits++;
	}
};

static void references()
{
	int number = 1, written = 0;
	double real = 1.5;
	auto add = [](void *, int &n, double &r, int &w) {
		n++;
		r++;
		w = n;
	};

	EXPECT(!register_trace_types_references(add, nullptr));
	EXPECT(!register_trace_types_hidden([](void *, int &n) { n += 10; }, nullptr));
	EXPECT(!register_trace_types_hidden_real([](void *, double &r, double by) { r += by; }, nullptr));
	trace_types_references(number, real, written);
	trace_types_hidden(number);
	trace_types_hidden_real(real, 0.25);
	EXPECT(number == 12 && written == 2 && real == 2.75);
	EXPECT(!unregister_trace_types_references(add, nullptr));
	trace_types_references(number, real, written);
	EXPECT(number == 12);
}

static void callbacks()
{
	const int others = registered; /* an output's */
	seen one = {0}, other = {0};

	EXPECT(!register_trace_types_callbacks(seen::count, &one) && registered == 1);
	EXPECT(!register_trace_types_callbacks(seen::count, &other));
	EXPECT(register_trace_types_callbacks(seen::count, &one) == -EEXIST);
	trace_types_callbacks(1);
	EXPECT(!unregister_trace_types_callbacks(seen::count, &other));
	trace_types_callbacks(2);
	EXPECT(!unregister_trace_types_callbacks(seen::count, &one) && registered == others);
	tracepoint_synchronize_unregister();
	EXPECT(one.hits == 2 && other.hits == 1);
}

int main()
{
	hit_texts();
	hit_classes();
	trace_types_constants(net::MINUS);
	references();
	callbacks();
	std::puts("good");
	return 0;
}
