/* dist.h - the distributions that workloads draw from.
 *
 * Discrete draws cost one random number and two look-ups whatever the number of items (alias table), Zipf's need no
 * table at all. Nothing here knows what is drawn. For proportions that must hold within a few hundred draws, use deck.h
 * instead.
 */
#ifndef NFSCURVE_COMMON_DIST_H
#define NFSCURVE_COMMON_DIST_H

#include <stddef.h>
#include <stdint.h>

struct rng;

/* Item i with probability weights[i] / sum. */
struct dist_discrete {
    uint32_t n;
    double *keep;    /* of the draws that fall on column i, the share that stays i ... */
    uint32_t *alias; /* ... and where the others go */
};

/* n >= 1 weights >= 0 with a positive, finite sum. 0, -EINVAL or -ENOMEM. */
int dist_discrete_init(struct dist_discrete *d, const double *weights, uint32_t n);
void dist_discrete_fini(struct dist_discrete *d);
uint32_t dist_discrete_draw(const struct dist_discrete *d, struct rng *rng);

/* Ranks 0..n-1, rank r with weight (r + 1)^-theta; theta >= 0, n >= 1. By rejection-inversion (Hoermann and Derflinger,
 * 1996): constant memory and time for any n. */
struct dist_zipf {
    uint64_t n;
    double theta;
    double area_first, area_last, squeeze;
};

void dist_zipf_init(struct dist_zipf *z, uint64_t n, double theta);
uint64_t dist_zipf_draw(const struct dist_zipf *z, struct rng *rng);

/* lambda^k / k! * e^-lambda */
double dist_poisson_weight(uint32_t k, double lambda);

/* SFS popularity: how many access groups a working set of W files has, 12 + 12 * floor(W / 1500), and what they weigh:
 * group i as Poisson with lambda 6 at k = i mod 12. Weights are not normalised. */
#define DIST_ACCESS_GROUPS 12
#define DIST_ACCESS_LAMBDA 6.0
uint32_t dist_access_group_count(uint64_t n_working_set);
void dist_access_group_weights(double *weights, uint32_t n_groups);

/* Standard normal distribution: probability of a value up to z, and the z of a probability (-inf at 0, inf at 1). */
double dist_normal_cdf(double z);
double dist_normal_quantile(double p);

/* Mean of the lognormal between its quantiles p_low < p_high. */
double dist_lognormal_slice_mean(double mean, double sigma, double p_low, double p_high);

#endif
