package main_test

import (
	"os"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

var _ = Describe("OpenShift's kinds that appear while the operator runs", func() {
	It("are used without a restart by registries and the catalog", func() {
		w := newFixture(config{})
		DeferCleanup(func() {
			w.stop()
			if CurrentSpecReport().Failed() {
				GinkgoWriter.Print(tail(w.log.String()))
			}
		})
		p := &player{fixture: w, namespace: "appearing", catalog: true, remembered: map[string]any{}}
		p.create(map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "makes-the-namespace", "namespace": "appearing"},
		}, "")
		w.run(config{RegistriesNamespace: "appearing", CatalogEnabled: true, Webhooks: true, DefaultDomain: "apps.x"})
		p.create(map[string]any{
			"apiVersion": "modelregistry.opendatahub.io/v1beta1", "kind": "ModelRegistry",
			"metadata": map[string]any{"name": "r", "namespace": "appearing"},
			"spec": map[string]any{
				"rest": map[string]any{}, "kubeRBACProxy": map[string]any{},
				"mysql": map[string]any{"host": "h", "username": "u", "database": "d"},
			},
		}, "")
		p.complete()
		p.expect(expectation{
			Exist:  []string{"apps/v1|Deployment|appearing|r", "v1|Service|appearing|model-catalog"},
			Absent: []string{"networking.k8s.io/v1|NetworkPolicy|appearing|r-https-route"},
		})
		process := w.process.Process.Pid
		for _, file := range crds(config{OpenShift: true, UserAPI: true})[len(crds(config{})):] {
			w.install(file)
		}
		p.expect(expectation{Exist: []string{
			"route.openshift.io/v1|Route|appearing|r-https", "networking.k8s.io/v1|NetworkPolicy|appearing|r-https-route",
			"user.openshift.io/v1|Group||r-users", "rbac.authorization.k8s.io/v1|RoleBinding|appearing|r-users",
			"route.openshift.io/v1|Route|appearing|model-catalog-https",
			"networking.k8s.io/v1|NetworkPolicy|appearing|model-catalog-https-route",
		}})
		Expect(w.process.Process.Pid).To(Equal(process))
	})
})

// install creates the CRD of a file.
func (w *fixture) install(file string) {
	GinkgoHelper()
	data, err := os.ReadFile(file)
	Expect(err).NotTo(HaveOccurred())
	crd := &apiextensionsv1.CustomResourceDefinition{}
	Expect(yaml.UnmarshalStrict(data, crd)).To(Succeed())
	Expect(w.c.Create(ctx, crd)).To(Succeed())
}
