package catalog

// Settings are those of the operator, from its environment, that decide what the catalog is.
type Settings struct {
	// Namespace of the catalog.
	Namespace string
	// Disabled removes the catalog; SkipDatabase leaves its database to somebody else.
	Disabled, SkipDatabase bool
	// DefaultDomain of the route; empty is that of the cluster.
	DefaultDomain string
	// The images.
	Image, ProxyImage, PostgresImage, DataImage, BenchmarkImage string
	// DatabaseUser and DatabaseName are those of a new database.
	DatabaseUser, DatabaseName string
}
