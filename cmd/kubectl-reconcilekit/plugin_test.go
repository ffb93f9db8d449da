package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/cri-streaming/pkg/streaming/portforward"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

const (
	install   = "../../examples/quickstart/config"
	operators = "quickstart-system" // the namespace of the installation
)

// kubelet fakes the kubelet: it forwards ports of Pods to ports of this machine, because no Pods run. The API server
// calls it.
type kubelet struct{}

// PortForward implements portforward.PortForwarder.
func (kubelet) PortForward(ctx context.Context, _, _ string, port int32, stream io.ReadWriteCloser) error {
	var dialer net.Dialer
	connection, err := dialer.DialContext(ctx, "tcp", "127.0.0.1:"+strconv.Itoa(int(port)))
	if err != nil {
		return err
	}
	defer connection.Close()
	go func() { _, _ = io.Copy(connection, stream); _ = connection.(*net.TCPConn).CloseWrite() }()
	_, err = io.Copy(stream, connection)
	return err
}

// ServeHTTP implements http.Handler for /portForward/NAMESPACE/POD.
func (k kubelet) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	portforward.ServePortForward(w, r, k, parts[len(parts)-1], "", &portforward.V4Options{}, time.Minute, time.Minute,
		portforward.SupportedProtocols)
}

// cluster has an API server with the installation of the quickstart, and two processes of its operator.
type cluster struct {
	*testing.T
	client.Client
	env *envtest.Environment
}

func (c *cluster) must(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

// TestPlugin runs the plugin against an installed operator, with only the generated role in the namespace of the
// operator. Only the kubelet is a fake.
func TestPlugin(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles an operator")
	}
	log.SetLogger(klog.Background())
	c := &cluster{T: t, env: &envtest.Environment{CRDDirectoryPaths: []string{filepath.Join(install, "crd")}, ErrorIfCRDPathMissing: true}}
	config, err := c.env.Start()
	c.must(err)
	t.Cleanup(func() { c.must(c.env.Stop()) })
	c.Client, err = client.New(config, client.Options{})
	c.must(err)
	for _, file := range []string{"manager/namespace.yaml", "manager/service_account.yaml", "network/metrics_service.yaml", "rbac/metrics.yaml"} {
		c.apply(filepath.Join(install, file))
	}
	c.node()
	kubeconfig := c.user("operator", rbacv1.PolicyRule{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"*"}})
	program := filepath.Join(t.TempDir(), "quickstart")
	build := exec.CommandContext(t.Context(), "go", "-C", "../../examples", "build", "-o", program, "./quickstart")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	c.operator(program, kubeconfig, "one")
	c.operator(program, kubeconfig, "two")

	site := &unstructured.Unstructured{}
	c.must(yaml.Unmarshal([]byte("apiVersion: example.com/v1\nkind: Website\nmetadata: {namespace: default, name: corner}\nspec: {text: hello}\n"), &site.Object))
	site.SetAPIVersion(c.version())
	c.must(c.Create(t.Context(), site))
	night := c.user("night", rbacv1.PolicyRule{APIGroups: []string{"*"}, Resources: []string{"websites"}, Verbs: []string{"get", "list", "patch"}})
	run := func(args ...string) (string, error) {
		var out bytes.Buffer
		command := root(genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &out})
		command.SetArgs(append([]string{"--kubeconfig=" + night, "--namespace=default"}, args...))
		err := command.ExecuteContext(t.Context())
		return out.String(), err
	}
	eventually := func(what string, args []string, want ...string) {
		t.Helper()
		var text string
		var err error
		for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(200 * time.Millisecond) {
			text, err = run(args...)
			if err != nil {
				text += err.Error()
			}
			missing := false
			for _, part := range want {
				missing = missing || !strings.Contains(text, part)
			}
			if !missing {
				return
			}
		}
		t.Fatalf("%s: %v: want %q in\n%s", what, args, want, text)
	}

	explain := []string{"explain", "website", "corner", "--operator-namespace=" + operators}
	eventually("without the role", explain, "find the operator", "forbidden")
	c.must(c.Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: operators, Name: "night"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "quickstart-kubectl"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: "night"}},
	}))
	eventually("the process that leads", explain, "Website default/corner (controller quickstart)", "last pass at")
	eventually("an owner that does not exist", []string{"explain", "websites", "none", "--operator-namespace=" + operators}, "not found")
	eventually("as JSON", append(explain, "-o=json"), `"controller": "quickstart"`)
	eventually("another operator", append(explain, "--operator=other"), "no operator says that it reconciles websites")

	eventually("a request", []string{"reconcile", "website", "corner"}, "/corner reconciled\n", "Ready=False")
	eventually("the pause", []string{"pause", "website", "corner"}, "/corner paused")
	eventually("the paused owner", explain, "paused by its annotation")
	eventually("a request of a paused owner", []string{"reconcile", "website", "corner", "--timeout=1s"}, "is not reconciled after 1s: it is paused")
	eventually("its end", []string{"resume", "website", "corner"}, "/corner resumed")
	eventually("the resumed owner", []string{"reconcile", "website", "corner"}, "/corner reconciled\n")
	c.previews(site, eventually)

	eventually("names to complete", []string{"__complete", "explain", "website", ""}, "corner\n")
	eventually("names of previews", []string{"__complete", "preview", "website", ""}, "corner\n")
	eventually("formats to complete", []string{"__complete", "preview", "website", "corner", "-o", ""}, "diff\n", "table\n", "json\n")
}

// previews checks that an account previews only owners that it may update, and sees only values of objects that it may get.
func (c *cluster) previews(site *unstructured.Unstructured, eventually func(what string, args []string, want ...string)) {
	c.Helper()
	file := filepath.Join(c.TempDir(), "changed.yaml")
	c.must(os.WriteFile(file, []byte("apiVersion: "+site.GetAPIVersion()+"\nkind: Website\nmetadata: {name: corner}\nspec: {text: goodbye}\n"), 0o600))
	preview := []string{"preview", "website", "corner", "--operator-namespace=" + operators}
	changed := append(slices.Clone(preview), "-f="+file)
	account := rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: "default", Name: "quickstart-previewer"}
	bind := func(namespace, kind, role string, subject rbacv1.Subject) {
		c.Helper()
		to, reference := metav1.ObjectMeta{GenerateName: "previewer-", Namespace: namespace}, rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: role}
		if namespace == "" {
			c.must(c.Create(c.Context(), &rbacv1.ClusterRoleBinding{ObjectMeta: to, RoleRef: reference, Subjects: []rbacv1.Subject{subject}}))
			return
		}
		c.must(c.Create(c.Context(), &rbacv1.RoleBinding{ObjectMeta: to, RoleRef: reference, Subjects: []rbacv1.Subject{subject}}))
	}
	night := rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: "User", Name: "night"}
	rules := func(name string, rules ...rbacv1.PolicyRule) string {
		c.Helper()
		c.must(c.Create(c.Context(), &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules}))
		return name
	}
	websites := rbacv1.PolicyRule{APIGroups: []string{"*"}, Resources: []string{"websites"}, Verbs: []string{"update"}}

	eventually("a user who may not create a token", preview, "get a token of ServiceAccount default/quickstart-previewer", "--service-account chooses another")
	c.must(c.Create(c.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: account.Name}}))
	bind("default", "ClusterRole", rules("tokens", rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"serviceaccounts/token"}, Verbs: []string{"create"}}), night)
	eventually("an account without the role", preview, "403 Forbidden", `needs the permission to create the non-resource URL "/debug/preview"`)
	bind("", "ClusterRole", "quickstart-previewer", account)
	eventually("an account that may not update the owner", preview, "403 Forbidden",
		`user "system:serviceaccount:default:quickstart-previewer" needs the permission to update it in namespace "default"`)
	bind("default", "ClusterRole", rules("editor", websites), account)
	eventually("an owner as it is", preview, "/corner: no changes")
	eventually("an owner that does not exist", []string{"preview", "website", "none", "--operator-namespace=" + operators}, `website.`, "404 Not Found")
	eventually("a user who may not update the owner", changed, "changed.yaml: ", "cannot update resource")
	bind("default", "ClusterRole", "editor", night)
	eventually("values of objects that the account may not get", changed, "update ConfigMap default/corner", `*** -> *** (changed)`)
	bind("default", "ClusterRole", rules("reader", rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get"}}), account)
	eventually("values of objects that it may get", changed, "update ConfigMap default/corner", `goodbye`)
	eventually("as JSON", append(changed, "-o=json"), `"verb": "update"`)

	stored := site.DeepCopy()
	c.must(c.Get(c.Context(), client.ObjectKeyFromObject(site), stored))
	if text, _, _ := unstructured.NestedString(stored.Object, "spec", "text"); text != "hello" {
		c.Errorf("a preview has written: %q", text)
	}
	page := &corev1.ConfigMap{}
	c.must(c.Get(c.Context(), client.ObjectKeyFromObject(site), page))
	for _, value := range page.Data {
		if strings.Contains(value, "goodbye") {
			c.Errorf("a preview has written: %q", value)
		}
	}
}

// apply creates the objects of a file.
func (c *cluster) apply(file string) {
	c.Helper()
	raw, err := os.ReadFile(file)
	c.must(err)
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(raw), len(raw))
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		if err == io.EOF { //nolint:errorlint // documented
			return
		}
		c.must(err)
		c.must(c.Create(c.Context(), object))
	}
}

// version returns the API version of the CRD of websites.
func (c *cluster) version() string {
	kinds := c.RESTMapper()
	mapping, err := kinds.KindsFor(metaWebsites)
	c.must(err)
	return mapping[0].GroupVersion().String()
}

// user returns the kubeconfig of a user with permissions in all namespaces.
func (c *cluster) user(name string, rules ...rbacv1.PolicyRule) (kubeconfig string) {
	c.Helper()
	c.must(c.Create(c.Context(), &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules}))
	c.must(c.Create(c.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: name}},
	}))
	user, err := c.env.AddUser(envtest.User{Name: name}, nil)
	c.must(err)
	raw, err := user.KubeConfig()
	c.must(err)
	kubeconfig = filepath.Join(c.TempDir(), name)
	c.must(os.WriteFile(kubeconfig, raw, 0o600))
	return kubeconfig
}

// node creates the node of the fake kubelet.
func (c *cluster) node() {
	c.Helper()
	server := httptest.NewTLSServer(kubelet{})
	c.Cleanup(server.Close)
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node"}}
	c.must(c.Create(c.Context(), node))
	address := server.Listener.Addr().(*net.TCPAddr)
	node.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "127.0.0.1"}}
	node.Status.DaemonEndpoints.KubeletEndpoint.Port = int32(address.Port)
	node.Status.Capacity = corev1.ResourceList{corev1.ResourcePods: resource.MustParse("10")}
	c.must(c.Status().Update(c.Context(), node))
}

// operator starts a process of the operator, and creates its Pod.
func (c *cluster) operator(program, kubeconfig, name string) {
	c.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	c.must(err)
	port := listener.Addr().(*net.TCPAddr).Port
	c.must(listener.Close())
	process := exec.CommandContext(c.Context(), program, "-kubeconfig="+kubeconfig, "-leader-elect", "-leader-election-namespace="+operators,
		"-health-probe-bind-address=0", "-metrics-bind-address=127.0.0.1:"+strconv.Itoa(port), "-metrics-secure", "-serve-explanations")
	var logs bytes.Buffer
	process.Stdout, process.Stderr = &logs, &logs
	c.must(process.Start())
	c.Cleanup(func() {
		_ = process.Process.Kill()
		_ = process.Wait()
		if c.Failed() {
			c.Logf("the log of %s:\n%s", name, logs.String())
		}
	})
	raw, err := os.ReadFile(filepath.Join(install, "manager/deployment.yaml"))
	c.must(err)
	deployment := appsv1.Deployment{}
	c.must(yaml.Unmarshal(raw, &deployment))
	pod := &corev1.Pod{ObjectMeta: deployment.Spec.Template.ObjectMeta, Spec: deployment.Spec.Template.Spec}
	pod.Namespace, pod.Name, pod.Spec.NodeName = operators, name, "node"
	for i := range pod.Spec.Containers[0].Ports {
		if known := &pod.Spec.Containers[0].Ports[i]; known.Name == metricsPort {
			known.ContainerPort = int32(port)
		}
	}
	c.must(c.Create(c.Context(), pod))
	pod.Status.Phase = corev1.PodRunning
	c.must(c.Status().Update(c.Context(), pod))
}
