// A native library that does two things wrong when asked to: it reads from a null pointer, and it waits.
#include <unistd.h>

struct entry {
    int id;
    int next;
};

int find_bucket(const struct entry *table, int slot) { return table[slot].next; }

int load_page(int wait) { return wait ? (int)sleep(wait) : 0; }
