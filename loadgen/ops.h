/* ops.h - the drivers of the ops (see request.h), one file a family. */
#ifndef NFSCURVE_LOADGEN_OPS_H
#define NFSCURVE_LOADGEN_OPS_H

#include "request.h"

/* ops_data.c */
const struct op_driver *op_driver_read(void);
const struct op_driver *op_driver_write(void);
const struct op_driver *op_driver_commit(void);

/* ops_attributes.c: what asks for or sets the attributes of one object, and the server's own figures. */
const struct op_driver *op_driver_attributes(void);

/* ops_names.c: what makes, removes or moves names. */
const struct op_driver *op_driver_names(void);

/* ops_directory.c: READDIR and READDIRPLUS. */
const struct op_driver *op_driver_directory(void);

/* SETATTR size 0 of a file chosen to make room for appends. 0 or -EAGAIN. */
int ops_begin_truncation(struct request *request);

#endif
