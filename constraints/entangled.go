package constraints

import "github.com/flexpipe/flexpipe/model"

// Entangled returns a row that waits in one case only of a choice between split and
// fused for what it does not have to wait for in the other, or that waits for the end
// of a backward with a choice, micro-batch by micro-batch; -1 if there is none.
//
// Where there is such a row, operations may not be assumed to start in index order:
// a choice goes along with the backward input, so that the backwards of some
// micro-batches can end in another order than they start, and what waits for their
// ends, one by one, follows that order. What runs once and waits for all of them does
// not mind. Cost O(choices · (rows + precedences)).
func Entangled(p *model.Problem) int32 {
	if !p.HasChoice {
		return -1
	}
	for r := range p.Rows {
		row := &p.Rows[r]
		for _, pred := range row.Preds {
			if before := &p.Rows[pred.Row]; !row.Single && before.Choice == model.WhenSplit && before.Twin < 0 {
				return int32(r)
			}
		}
	}
	for a := range Alternatives(p) {
		if r := entangled(p, &a); r >= 0 {
			return r
		}
	}
	return -1
}

// entangled looks at what the rows of one choice wait for.
func entangled(p *model.Problem, a *Alternative) int32 {
	input, weight := a.Split[0], a.Split[1]
	behind := lagsBefore(p, input)
	for _, pred := range p.Rows[a.Fused].Preds {
		if lag, ok := behind[pred.Row]; !ok || lag < pred.Lag {
			return a.Fused
		}
	}
	for _, pred := range p.Rows[input].Preds {
		if lag, ok := lagOf(p, a.Fused, pred.Row); !ok || lag < pred.Lag {
			return input
		}
	}
	for _, pred := range p.Rows[weight].Preds {
		if lag, ok := behind[pred.Row]; pred.Row != input && (!ok || lag < pred.Lag) {
			return weight
		}
	}
	return -1
}

// lagOf returns the lag with which a row waits for another one.
func lagOf(p *model.Problem, row, producer int32) (lag model.Time, ok bool) {
	for _, pred := range p.Rows[row].Preds {
		if pred.Row == producer {
			lag, ok = max(lag, pred.Lag), true
		}
	}
	return lag, ok
}

// lagsBefore returns the rows for which a row waits, directly or not, in every case of
// every choice, with the longest sum of lags on the way.
func lagsBefore(p *model.Problem, row int32) map[int32]model.Time {
	lags := map[int32]model.Time{row: 0}
	next := []int32{row}
	for len(next) > 0 {
		at := next[0]
		next = next[1:]
		for _, pred := range p.Rows[at].Preds {
			if lag, ok := lags[pred.Row]; !ok || lag < lags[at]+pred.Lag {
				lags[pred.Row] = lags[at] + pred.Lag
				if p.Rows[pred.Row].Choice == model.Always {
					next = append(next, pred.Row)
				}
			}
		}
	}
	return lags
}
