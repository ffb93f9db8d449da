package evalhub

import (
	"slices"

	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1"
)

// rolePrefix is the prefix of the names of an installation's ClusterRoles.
const rolePrefix = "trustyai-service-operator-evalhub-"

// rights plans permissions in one namespace.
type rights struct {
	apply     func(client.Object, ...apply.ChildOption)
	namespace string
	labels    map[string]string
}

func (r rights) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: r.namespace, Name: name, Labels: r.labels}
}

func (r rights) add(object client.Object) { r.apply(object, apply.AdoptUncontrolled, apply.Recreate()) }

func (r rights) account(name string) { r.add(&corev1.ServiceAccount{ObjectMeta: r.meta(name)}) }

func (r rights) role(name string, rules ...rbacv1.PolicyRule) {
	r.add(&rbacv1.Role{ObjectMeta: r.meta(long(name)), Rules: rules})
}

// bind binds a Role of the namespace to the subject, bindAll a ClusterRole of the installation.
func (r rights) bind(name, role string, subject rbacv1.Subject) {
	r.add(&rbacv1.RoleBinding{
		ObjectMeta: r.meta(long(name)), Subjects: []rbacv1.Subject{subject},
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: long(role)},
	})
}

func (r rights) bindAll(name, role string, subject rbacv1.Subject) {
	r.add(&rbacv1.RoleBinding{
		ObjectMeta: r.meta(long(name)), Subjects: []rbacv1.Subject{subject},
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: rolePrefix + role},
	})
}

func account(namespace, name string) rbacv1.Subject {
	return rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: name}
}

func (n names) server() rbacv1.Subject { return account(n.namespace, n.account()) }

func rule(group string, resources, verbs []string, names ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: resources, ResourceNames: names, Verbs: verbs}
}

// right is the suffix of the name of a binding, and its role.
type right struct{ suffix, role string }

// evaluating are the permissions of a hub's server where its jobs run.
var evaluating = []right{
	{"-job-writer-rb", "jobs-writer"},
	{"-job-config-rb", "job-config"},
	{"-hardware-profiles-reader-rb", "hardware-profiles-reader"},
	{"-events-rb", "events"},
}

// rightsOf plans the permissions in the namespace of the hub, in that of the operator, and in the cluster. Without an account that
// the hub owns, existing bindings stay and none is created.
func rightsOf(plan *reconcile.PlanResult, n names, tenancy v1.Tenancy, operatorNamespace string, owned bool) {
	own := rights{plan.Apply, n.namespace, n.labels()}
	own.apply(&corev1.ServiceAccount{ObjectMeta: own.meta(n.account())}, apply.Recreate())
	put := plan.Apply
	unowned := func(child client.Object, options ...apply.ChildOption) {
		plan.Apply(child, append(options, apply.Shared)...)
	}
	if !owned {
		put = func(child client.Object, _ ...apply.ChildOption) { plan.Keep(child) }
		unowned = put
	}
	own.apply = put
	own.add(&rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: long(n.pair + "-auth-reviewer-crb"), Labels: n.labels()}, Subjects: []rbacv1.Subject{n.server()},
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: rolePrefix + "auth-reviewer-role"},
	})
	own.role(n.name+"-service-access-role",
		rule(group, []string{"evalhubs"}, []string{"get"}, n.name), rule(group, []string{"evalhubs/proxy"}, []string{"get", "create"}, n.name))
	own.bind(n.name+"-service-access-rb", n.name+"-service-access-role", n.server())
	for _, right := range slices.Concat(evaluating, []right{
		{"-mlflow-service-rb", "mlflow-access"}, {"-providers-access-rb", "providers-access"}, {"-collections-access-rb", "collections-access"},
	}) {
		own.bindAll(n.name+right.suffix, right.role, n.server())
	}
	own.bind(norm(n.pair+"-service-pod-logs-rb"), norm(n.pair+"-service-pod-logs-role"), n.server())
	jobRights(rights{unowned, n.namespace, n.jobLabels()}, n)
	if n.namespace != operatorNamespace {
		rights{put, operatorNamespace, n.jobLabels()}.bindAll(norm(n.pair+"-apps-ns-hp-reader-rb"), "hardware-profiles-reader", n.server())
	}
	if tenancy == v1.SingleTenancy {
		singleTenant(own, n)
	}
}

// jobRights plans the permissions of the hub and its jobs in each namespace with jobs.
func jobRights(r rights, n names) {
	job := account(r.namespace, n.jobAccount())
	r.account(n.jobAccount())
	r.role(norm(n.pair+"-job-access-role"), rule(group, []string{"status-events"}, []string{"create"}))
	r.bind(norm(n.pair+"-job-access-rb"), norm(n.pair+"-job-access-role"), job)
	r.bindAll(norm(n.pair+"-mlflow-job-rb"), "mlflow-jobs-access", job)
	r.bindAll(norm(n.pair+"-mlflow-service-rb"), "mlflow-access", n.server())
	r.bindAll(norm(n.pair+"-model-secret-rb"), "model-secret", n.server())
	r.role(norm(n.pair+"-service-pod-logs-role"),
		rule("", []string{"pods"}, []string{"get", "list"}), rule("", []string{"pods/log"}, []string{"get"}))
}

// tenantRights plans the permissions of the hub in the namespace of a tenant.
func tenantRights(r rights, n names) {
	jobRights(r, n)
	for _, right := range evaluating {
		r.bindAll(norm(n.inTenant+"-"+r.namespace+right.suffix), right.role, n.server())
	}
	r.bind(norm(n.pair+"-"+r.namespace+"-service-pod-logs-rb"), norm(n.pair+"-service-pod-logs-role"), n.server())
}

const (
	group       = "trustyai.opendatahub.io"
	mlflowGroup = "mlflow.kubeflow.org"
)

// singleTenant grants access to the hub to the accounts of the namespace, and to users whom its administrator binds to the other
// role.
func singleTenant(r rights, n names) {
	read, write, all := []string{"get", "list"}, []string{"create", "update", "patch", "delete"}, []string{
		"get", "list", "watch", "create", "update", "patch", "delete",
	}
	proxy := rule(group, []string{"evalhubs/proxy"}, []string{"get", "create"}, n.name)
	hubs := rule(group, []string{"evalhubs"}, read)
	r.role("evalhub-tenant-admin", hubs, rule(group, []string{"evaluations", "collections", "providers", "status-events"}, all),
		proxy, rule(mlflowGroup, []string{"experiments"}, read))
	r.role("evalhub-user", hubs, rule(group, []string{"evaluations"}, append([]string{"get", "list"}, write...)),
		rule(group, []string{"collections", "providers"}, []string{"get", "list", "watch"}), proxy,
		rule(group, []string{"status-events"}, []string{"create"}), rule(mlflowGroup, []string{"experiments"}, []string{"get", "list", "create"}))
	r.bind("evalhub-tenant-admin-binding", "evalhub-tenant-admin",
		rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: "system:serviceaccounts:" + r.namespace})
}

// Grants are the permissions that the operator grants to hubs, and so needs itself.
func Grants() []rbacv1.PolicyRule {
	all := []string{"get", "list", "watch", "create", "update", "patch", "delete"}
	var roles []string
	for _, role := range []string{
		"auth-reviewer-role", "collections-access", "events", "hardware-profiles-reader", "job-config", "jobs-writer", "mlflow-access",
		"mlflow-jobs-access", "model-secret", "providers-access",
	} {
		roles = append(roles, rolePrefix+role)
	}
	return []rbacv1.PolicyRule{
		rule(rbacv1.GroupName, []string{"clusterroles"}, []string{"bind"}, roles...),
		rule("", []string{"pods"}, []string{"get", "list"}), rule("", []string{"pods/log"}, []string{"get"}),
		rule(group, []string{"evalhubs"}, []string{"get", "list"}), rule(group, []string{"evalhubs/proxy"}, []string{"get", "create"}),
		rule(group, []string{"evaluations", "collections", "providers", "status-events"}, all),
		rule(mlflowGroup, []string{"experiments"}, []string{"get", "list", "create"}),
	}
}
