/* The folder of compiled kernels: where it is, and what is in it. */
#ifndef WEFT_KERNEL_DISK_FOLDER_H
#define WEFT_KERNEL_DISK_FOLDER_H

#include <stdbool.h>
#include <stdint.h>

enum {
    WEFT__DISK_PATH = 4096,
    WEFT__DISK_NAME = 40 /* of an entry: 32 digits and ".weft" */
};

/* Copies the folder's path; false if there is none. */
bool weft__disk_folder(char *path);
/* Makes it if need be, and opens it; -1 if that cannot be, or it is not the user's own. */
int weft__disk_folder_open(void);

/* Says that so many bytes were added: entries are removed if there are too many now. `folder` is
 * open. */
void weft__disk_added(int folder, uint64_t bytes);

#endif
