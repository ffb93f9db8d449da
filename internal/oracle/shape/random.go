package shape

import "math/rand/v2"

// Random returns the shape of the spec of a generated kind: an object with a few random fields.
func Random(r *rand.Rand) *Shape { return randomObject(r, 3, 3+r.IntN(4)) }

// randomObject returns an object with n fields.
func randomObject(r *rand.Rand, depth, n int) *Shape {
	s := &Shape{Type: ObjectType, Properties: map[string]*Shape{}}
	names := fieldNames()
	for range n {
		name := pick(r, names)
		if s.Properties[name] != nil {
			continue
		}
		s.Properties[name] = random(r, depth-1)
		if chance(r, 8) {
			s.Required = append(s.Required, name)
		}
	}
	if chance(r, 8) {
		s.MapType = AtomicMap
	}
	if chance(r, 10) {
		s.Preserve = true
	}
	return s
}

func random(r *rand.Rand, depth int) *Shape {
	s := randomKind(r, depth)
	if chance(r, 8) && !s.Embedded {
		s.Nullable = true
	}
	if chance(r, 5) && (s.scalar() || s.Type == ObjectType) && !s.Preserve {
		s.Default = s.Value(r)
		if s.Type == ObjectType && len(s.Required) == 0 {
			s.Default = map[string]any{}
		}
	}
	return s
}

func randomKind(r *rand.Rand, depth int) *Shape {
	if depth <= 0 || chance(r, 3) {
		return randomScalar(r)
	}
	switch r.IntN(9) {
	case 0, 1:
		return randomObject(r, depth, 1+r.IntN(4))
	case 2:
		s := &Shape{Type: ObjectType, Values: random(r, depth-1)}
		s.Values.Default = nil
		if chance(r, 4) {
			s.MapType = AtomicMap
		}
		return s
	case 3, 4:
		return randomMapList(r, depth)
	case 5:
		return &Shape{Type: ArrayType, ListType: SetList, Items: setItem(r)}
	case 6:
		items := random(r, depth-1)
		items.Default, items.Nullable = nil, false
		return &Shape{Type: ArrayType, ListType: AtomicList, Items: items}
	case 7:
		items := randomObject(r, depth, 1+r.IntN(4))
		return &Shape{Type: ArrayType, Items: items}
	}
	return randomFree(r)
}

func randomFree(r *rand.Rand) *Shape {
	switch r.IntN(3) {
	case 0:
		return &Shape{Type: ObjectType, Preserve: true}
	case 1:
		return &Shape{Type: ObjectType, Preserve: true, Embedded: true}
	}
	return &Shape{Type: AnyType, Preserve: true}
}

func randomScalar(r *rand.Rand) *Shape {
	switch r.IntN(10) {
	case 0, 1, 2:
		return &Shape{Type: StringType}
	case 3:
		return &Shape{Type: StringType, Enum: []any{"TCP", "UDP", "a", ""}}
	case 4, 5:
		return &Shape{Type: IntegerType, Format: pick(r, []string{"int32", "int64"})}
	case 6:
		return &Shape{Type: NumberType}
	case 7:
		return &Shape{IntOrString: true}
	case 8:
		return &Shape{Type: StringType, Format: QuantityFormat}
	}
	return &Shape{Type: BooleanType}
}

// setItem returns the item of a set, a scalar: the API server rejects objects.
func setItem(r *rand.Rand) *Shape {
	if chance(r, 3) {
		// The API server rounds larger ones in managedFields.
		return &Shape{Type: IntegerType, Format: "int32"}
	}
	return &Shape{Type: StringType}
}

// randomMapList returns a map list with one or several keys. At least one key is required, others may have a default: the API server
// itself loses an item with only defaults when it is applied again.
func randomMapList(r *rand.Rand, depth int) *Shape {
	items := randomObject(r, depth, 1+r.IntN(3))
	items.MapType, items.Preserve = "", false
	s := &Shape{Type: ArrayType, ListType: MapList, Items: items}
	if chance(r, 2) {
		s.addKey("name", &Shape{Type: StringType})
	} else {
		s.addKey("port", &Shape{Type: IntegerType, Format: "int32"})
	}
	if chance(r, 2) {
		s.addKey("protocol", &Shape{Type: StringType, Default: "TCP", Enum: []any{"TCP", "UDP", ""}})
	}
	if chance(r, 4) {
		s.addKey("enabled", &Shape{Type: BooleanType})
	}
	return s
}

func (s *Shape) addKey(key string, as *Shape) {
	s.Keys = append(s.Keys, key)
	s.Items.Properties[key] = as
	if as.Default == nil && !s.Items.required(key) {
		s.Items.Required = append(s.Items.Required, key)
	}
}
