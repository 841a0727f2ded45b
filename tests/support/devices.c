/* Prints the names of the devices of this machine; with an argument, the name that it stands for.
 */
#include <stdio.h>

#include <weft/weft.h>

int main(int argc, char **argv)
{
    if (argc > 1) {
        weft_device device = weft_device_named(argv[1]);
        if (device.kind == WEFT_DEVICE_INVALID) {
            fprintf(stderr, "%s\n", weft_error_message());
            return 1;
        }
        printf("%s\n", weft_device_id(device));
        return 0;
    }
    for (int i = 0; i < weft_device_count(); i++) {
        printf("%s\n", weft_device_id(weft_device_at(i)));
    }
    return 0;
}
