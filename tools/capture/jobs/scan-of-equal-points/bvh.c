#include <string.h>
/* depth of a bounding volume hierarchy; left[i] and right[i] are children or -1 */
int depth(const int *left, const int *right, int node) {
    char box[256];
    memset(box, 0, sizeof box);
    if (node < 0) return box[0];
    int a = depth(left, right, left[node]), b = depth(left, right, right[node]);
    return 1 + (a > b ? a : b);
}
