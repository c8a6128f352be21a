/* SPDX-License-Identifier: Apache-2.0 */
/* Files that the binary carries; see assets.S. */
#ifndef CMD_ASSETS_H
#define CMD_ASSETS_H

/* The demo's stage: the simulated GPU and the training script. Ends with a NULL name. */
struct asset {
	const char *name;
	const char *start, *end;
};

extern const struct asset assets[];

extern const char asset_incident_sql[]; /* terminated */

#endif
