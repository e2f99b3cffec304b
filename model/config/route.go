package config

import "fmt"

// MaxReplicas bounds stages × routes.
const MaxReplicas = 1 << 20

// readRoutes reads a placement for each route. They take the place of the one
// placement.
func (d *decoder) readRoutes(v value) {
	if placement := d.root.get("placement"); !placement.absent() {
		placement.fail("routes say where the stages sit already", "keep one of the two")
		return
	}
	items, ok := v.items("write a list of placements such as [[0, 1], [1, 0]]")
	if !ok {
		return
	}
	if len(items) == 0 || len(items)*d.config.Stages > MaxReplicas {
		v.fail(plural(len(items), "route")+" for "+plural(d.config.Stages, "stage"), fmt.Sprintf("list 1 to %d routes", MaxReplicas/d.config.Stages))
		return
	}
	routes := make([]Placement, len(items))
	for i, item := range items {
		if item.none() {
			item.fail("none is no placement", "write linear, loop, v or a list with a device for each stage")
			return
		}
		if routes[i], ok = d.readPlacementOf(item); !ok {
			return
		}
	}
	d.config.Placement, d.config.Routes = routes[0], routes
	d.warnIdleDevices(v)
}

// readRouteOf reads the route of each micro-batch. By default each route has a block
// of consecutive ones, as equal in size as possible.
func (d *decoder) readRouteOf() {
	v, micro := d.root.get("route_of"), d.config.MicroBatches
	if routes := d.root.get("routes"); routes.absent() {
		if !v.absent() {
			v.fail("there are no routes", "leave it out, or write routes")
		}
		return
	}
	if d.config.Routes == nil || micro == 0 {
		return
	}
	routeOf := make([]int, micro)
	if v.absent() {
		for m := range routeOf {
			routeOf[m] = m * len(d.config.Routes) / micro
		}
		v = d.root.get("routes")
	} else {
		items, ok := v.items("write a list with a route for each micro-batch")
		if !ok || !v.ofLength(micro, "micro-batch route", "give one per micro-batch, or leave it out") {
			return
		}
		for m, item := range items {
			if routeOf[m], ok = item.index(len(d.config.Routes), "route"); !ok {
				return
			}
		}
	}
	used := make([]bool, len(d.config.Routes))
	for _, route := range routeOf {
		used[route] = true
	}
	for route, has := range used {
		if !has {
			v.fail(fmt.Sprintf("route %d has no micro-batch", route), "leave the route out, or give it a micro-batch")
			return
		}
	}
	d.config.RouteOf = routeOf
}
