// A native library that does two things wrong when asked to: it divides by zero, and it fails an assertion.
#include <assert.h>

int rows_per_bin(int length, int rows) { return length / rows; }

int pack(int capacity, int used) {
    assert(used <= capacity);
    return capacity - used;
}
