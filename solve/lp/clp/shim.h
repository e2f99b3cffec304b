// What github.com/lanl/clp lacks: functions on the ClpSimplex object behind a
// clp.Simplex.

#ifdef __cplusplus
extern "C" {
#endif

// Sets all column bounds; the basis stays.
void flexpipe_set_bounds(void *simplex, int columns, const double *lower, const double *upper);

// Makes solves end soon after the flag that it returns is set. flexpipe_free frees
// the flag when the ClpSimplex will not be used any more.
int *flexpipe_watch(void *simplex);
void flexpipe_stop(int *flag, int value);
void flexpipe_free(int *flag);

#ifdef __cplusplus
}
#endif
