//go:build clp && cgo

#include "shim.h"

#include <ClpEventHandler.hpp>
#include <ClpSimplex.hpp>

namespace {

class Watcher : public ClpEventHandler {
public:
  explicit Watcher(const int *flag) : flag_(flag) {}
  int event(Event) override { return __atomic_load_n(flag_, __ATOMIC_RELAXED) ? 5 : -1; }
  ClpEventHandler *clone() const override { return new Watcher(*this); }

private:
  const int *flag_;
};

// The status of a column outside the basis: CLP would go on taking a column as
// fixed, or as at a bound, that is so no more.
ClpSimplex::Status nonbasic(double lower, double upper) {
  if (lower == upper) return ClpSimplex::isFixed;
  if (lower > -COIN_DBL_MAX) return ClpSimplex::atLowerBound;
  return upper < COIN_DBL_MAX ? ClpSimplex::atUpperBound : ClpSimplex::isFree;
}

}  // namespace

extern "C" {

void flexpipe_set_bounds(void *simplex, int columns, const double *lower, const double *upper) {
  ClpSimplex *s = static_cast<ClpSimplex *>(simplex);
  for (int j = 0; j < columns; j++) {
    s->setColumnBounds(j, lower[j], upper[j]);
    if (s->getColumnStatus(j) != ClpSimplex::basic) s->setColumnStatus(j, nonbasic(lower[j], upper[j]));
  }
}

int *flexpipe_watch(void *simplex) {
  int *flag = new int(0);
  Watcher watcher(flag);
  static_cast<ClpSimplex *>(simplex)->passInEventHandler(&watcher);
  return flag;
}

void flexpipe_stop(int *flag, int value) { __atomic_store_n(flag, value, __ATOMIC_RELAXED); }

void flexpipe_free(int *flag) { delete flag; }

}  // extern "C"
