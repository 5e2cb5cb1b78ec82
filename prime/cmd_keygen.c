/* cmd_keygen.c - nfscurve keygen: makes the key that the prime and its load generators share. */
#include "commands.h"
#include "exit_status.h"
#include "key_file.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

int cmd_keygen(int argc, char **argv)
{
    if (argc != 2 || argv[1][0] == '-') {
        bool is_help = argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0);
        command_print_help("keygen", is_help ? stdout : stderr);
        return is_help ? EXIT_STATUS_VALID : EXIT_STATUS_USAGE;
    }
    char message[512];
    if (key_file_generate(argv[1], message, sizeof message) != 0) {
        fprintf(stderr, "nfscurve keygen: %s\n", message);
        return EXIT_STATUS_USAGE;
    }
    printf("wrote %s; copy it to every load generator (nfscurve-loadgen --key-file) and name it in the campaign:\n"
           "  \"control\": {\"key_file\": \"%s\"}\n",
           argv[1], argv[1]);
    return EXIT_STATUS_VALID;
}
