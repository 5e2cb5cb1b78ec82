/* commands.h - the commands of nfscurve: one function each, argv[0] is the command's name; the return value is an
 * exit_status. */
#ifndef NFSCURVE_PRIME_COMMANDS_H
#define NFSCURVE_PRIME_COMMANDS_H

#include <stdio.h>

int cmd_run(int argc, char **argv);
int cmd_plan(int argc, char **argv);
int cmd_validate(int argc, char **argv);
int cmd_import(int argc, char **argv);
int cmd_hosts(int argc, char **argv);
int cmd_keygen(int argc, char **argv);

/* Help text of a command, from the table in main.c. */
void command_print_help(const char *name, FILE *file);

#endif
