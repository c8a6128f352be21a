/* SPDX-License-Identifier: Apache-2.0 */
/* Learns what our own probes cost on this host, by calling a probed function of our own. */
#ifndef CAPTURE_CALIBRATE_H
#define CAPTURE_CALIBRATE_H

#include "capture/capture.h"

/* Fills in what could be measured; takes a few milliseconds. */
/* *shed_returns tells the probes whether to look at returns of what is only counted. */
void calibrate(const struct libs_opts *opts, bool *shed_returns, struct capture_cost *ret);

#endif
