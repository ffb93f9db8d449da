package main

import (
	"cmp"
	"os"

	"github.com/reconcilekit/reconcilekit/examples/modelregistry/api/v1beta1"
	"github.com/reconcilekit/reconcilekit/examples/modelregistry/catalog"
)

// settings reads the environment; an empty value counts as unset.
func settings() v1beta1.Settings {
	or := func(name, value string) string { return cmp.Or(os.Getenv(name), value) }
	return v1beta1.Settings{
		Namespace:     os.Getenv("REGISTRIES_NAMESPACE"),
		Webhooks:      os.Getenv("ENABLE_WEBHOOKS") != "false",
		DefaultDomain: os.Getenv("DEFAULT_DOMAIN"),
		RestImage:     or("REST_IMAGE", "quay.io/opendatahub/model-registry:latest"),
		ProxyImage:    or("KUBE_RBAC_PROXY_IMAGE", "quay.io/openshift/origin-kube-rbac-proxy:latest"),
		PostgresImage: or("POSTGRES_IMAGE", "quay.io/sclorg/postgresql-16-c10s:latest"),
	}
}

// catalogSettings returns the settings of the model catalog.
func catalogSettings() catalog.Settings {
	or := func(name, value string) string { return cmp.Or(os.Getenv(name), value) }
	const data = "quay.io/opendatahub/odh-model-metadata-collection:latest"
	return catalog.Settings{
		Settings:       settings(),
		Disabled:       os.Getenv("ENABLE_MODEL_CATALOG") == "false",
		SkipDatabase:   os.Getenv("SKIP_MODEL_CATALOG_DB_CREATION") == "true",
		DataImage:      or("CATALOG_DATA_IMAGE", data),
		BenchmarkImage: or("BENCHMARK_DATA_IMAGE", data),
		DatabaseUser:   or("CATALOG_POSTGRES_USER", "catalog_user"),
		DatabaseName:   or("CATALOG_POSTGRES_DATABASE", "model_catalog"),
	}
}
