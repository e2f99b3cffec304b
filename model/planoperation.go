package model

// operationJSON is an [Operation] in a plan file.
type operationJSON struct {
	Name     string    `json:"name"`
	Letter   string    `json:"letter"`
	Stage    *int      `json:"stage,omitempty"` // nil: none
	Single   bool      `json:"single,omitempty"`
	Devices  []int     `json:"devices,omitempty"` // nil: those of the stage
	Duration Time      `json:"duration"`
	Fixed    bool      `json:"fixed,omitempty"`
	After    []refJSON `json:"after,omitempty"`
	Before   []refJSON `json:"before,omitempty"`
	Takes    Bytes     `json:"takes,omitempty"`
	Gives    Bytes     `json:"gives,omitempty"`
}

// refJSON is a [Ref] in a plan file.
type refJSON struct {
	Kind  string `json:"kind"`
	Stage *int   `json:"stage,omitempty"` // nil: none
	Lag   Time   `json:"lag,omitempty"`
}

// stageNumber returns nil for no stage.
func stageNumber(s int) *int {
	if s < 0 {
		return nil
	}
	return &s
}

// stageOf is the inverse of stageNumber. Where a file writes a number below 0, it
// returns one that no stage has.
func stageOf(s *int) int {
	switch {
	case s == nil:
		return -1
	case *s < 0:
		return -2
	}
	return *s
}

func toOperation(o *Operation) operationJSON {
	return operationJSON{
		Name: o.Name, Letter: o.Letter, Stage: stageNumber(o.Stage), Single: o.Single, Devices: o.Devices,
		Duration: o.Duration, Fixed: o.Fixed, After: toRefs(o.After), Before: toRefs(o.Before), Takes: o.Takes, Gives: o.Gives,
	}
}

func toRefs(refs []Ref) []refJSON {
	var list []refJSON
	for _, r := range refs {
		list = append(list, refJSON{r.Kind, stageNumber(r.Stage), r.Lag})
	}
	return list
}

func (j *operationJSON) operation() Operation {
	return Operation{
		Name: j.Name, Letter: j.Letter, Stage: stageOf(j.Stage), Single: j.Single, Devices: j.Devices,
		Duration: j.Duration, Fixed: j.Fixed, After: refs(j.After), Before: refs(j.Before), Takes: j.Takes, Gives: j.Gives,
	}
}

func refs(list []refJSON) []Ref {
	var refs []Ref
	for _, r := range list {
		refs = append(refs, Ref{r.Kind, stageOf(r.Stage), r.Lag})
	}
	return refs
}
