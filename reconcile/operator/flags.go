package operator

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/reconcilekit/reconcilekit/reconcile/controller"
)

// The flags that error messages contain.
const (
	flagKubeconfig     = "kubeconfig"
	flagMetrics        = "metrics-bind-address"
	flagProbes         = "health-probe-bind-address"
	flagLeaderElect    = "leader-elect"
	flagLeaseNamespace = "leader-election-namespace"
	flagLeaseID        = "leader-election-id"
	flagLeaseDuration  = "leader-election-lease-duration"
	flagRenewDeadline  = "leader-election-renew-deadline"
	flagRetryPeriod    = "leader-election-retry-period"
	flagNamespaces     = "namespaces"
	flagWebhookPort    = "webhook-port"
	flagWebhookCertDir = "webhook-cert-dir"
	flagWebhookService = "webhook-service"
	flagExplanations   = "serve-explanations"
	flagMetricsSecure  = "metrics-secure"
	flagShardName      = "shard-name"
	flagVersion        = "version"
	flagShardCount     = "shard-count"
)

// off is the address that disables a server.
const off = "0"

// addFlags creates the flag set: the flags of every operator, of the command and of the product, with the defaults of the
// product.
func (p *process) addFlags() error {
	s := &p.settings
	s.metrics, s.probes, s.webhookPort, s.lease = off, ":8081", port(webhook.DefaultPort), standardLease()
	p.flags = flag.NewFlagSet(p.Name, flag.ContinueOnError)
	f := p.flags
	f.StringVar(&s.kubeconfig, flagKubeconfig, "", "`file` with the cluster to run against; empty means $KUBECONFIG, or the cluster that the process runs in")
	f.Var(&s.metrics, flagMetrics, "`address` where metrics are served, such as :8080; 0 serves none")
	f.Var(&s.metricsSecure, flagMetricsSecure,
		"serve metrics over TLS, to those alone whose bearer token may get /metrics; the operator needs the rights to review tokens and access")
	f.Var(&s.probes, flagProbes, "`address` where /healthz and /readyz are served, such as :8081; 0 serves none")
	f.Var(&s.leaderElect, flagLeaderElect, "let only one of several instances work")
	f.StringVar(&s.leaseNamespace, flagLeaseNamespace, "", "`namespace` of the lease; empty means the one that the process runs in")
	f.StringVar(&s.leaseID, flagLeaseID, "", "`name` of the lease; empty means "+p.leaseOfAll())
	f.DurationVar(&s.lease.duration, flagLeaseDuration, s.lease.duration, "how long a standby waits for a leader that does not renew its lease")
	f.DurationVar(&s.lease.deadline, flagRenewDeadline, s.lease.deadline, "how long the leader tries to renew its lease before it ends")
	f.DurationVar(&s.lease.retry, flagRetryPeriod, s.lease.retry, "how long a process waits between two tries to get or renew the lease")
	f.Var(&s.shard.count, flagShardCount, "`number` of shards that divide the owners, each with its own lease; 0 lets one process reconcile all of them")
	f.StringVar(&s.shard.name, flagShardName, "", "`number` of the shard of this process, from 0, such as the ordinal of the pod in a StatefulSet")
	f.Var(&s.namespaces, flagNamespaces, "`list` of namespaces to work in, separated by commas; empty means all")
	f.Var(&s.webhookPort, flagWebhookPort, "`port` of the webhook server, which an operator without webhooks does not start; 0 serves none")
	f.StringVar(&s.webhookCertDir, flagWebhookCertDir, "", "`folder` with tls.crt and tls.key of the webhook server; empty means controller-runtime's default")
	f.Var(&s.webhookService, flagWebhookService,
		"`namespace/name` of the service in front of the webhook server: the process makes and renews the certificate, shares it in the Secret of that "+
			"name, and writes it into the configurations of its webhooks and into the CRDs that it converts")
	f.Var(&s.describe, "describe", "print what the operator watches, reads and writes, and exit, as the command describe does")
	f.Var(&s.version, flagVersion, "print the version and exit, as the command version does")
	f.Var(&s.explanations, flagExplanations,
		"serve explanations of owners beside the metrics, at "+controller.ExplainPath+", behind what protects the metrics, and with -"+
			flagMetricsSecure+" previews, at "+PreviewPath)
	s.log.BindFlags(f)
	if p.command.flags != nil {
		p.command.flags(p, f)
	}
	return errors.Join(p.addProductFlags(), p.setDefaults())
}

// addProductFlags adds the flags of the product.
func (p *process) addProductFlags() error {
	if p.Flags == nil {
		return nil
	}
	own := flag.NewFlagSet(p.Name, flag.ContinueOnError)
	p.Flags(own)
	var errs []error
	own.VisitAll(func(f *flag.Flag) {
		if p.flags.Lookup(f.Name) != nil {
			errs = append(errs, fmt.Errorf("flag -%s of the product: every operator has a flag of that name; choose another one", f.Name))
			return
		}
		p.flags.Var(f.Value, f.Name, f.Usage)
		p.flags.Lookup(f.Name).DefValue = f.DefValue
	})
	return errors.Join(errs...)
}

// setDefaults sets the defaults of the product.
func (p *process) setDefaults() error {
	for _, name := range slices.Sorted(maps.Keys(p.Defaults)) {
		f := p.flags.Lookup(name)
		if f == nil {
			return fmt.Errorf("operator.Operator.Defaults: there is no flag -%s", name)
		}
		if err := f.Value.Set(p.Defaults[name]); err != nil {
			return fmt.Errorf("operator.Operator.Defaults: flag -%s: %q: %w", name, p.Defaults[name], err)
		}
		f.DefValue = p.Defaults[name]
	}
	return nil
}

// parseFlags parses the arguments and returns the positional ones, which stand before or after the flags. Their number must
// be that of wanted. Its errors contain the accepted values.
func parseFlags(flags *flag.FlagSet, args, wanted []string) (found []string, err error) {
	for len(found) < len(wanted) && len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		found, args = append(found, args[0]), args[1:]
	}
	flags.SetOutput(io.Discard)
	flags.Usage = func() {}
	err = flags.Parse(args)
	rest := flags.Args()
	if len(found) == 0 && len(rest) <= len(wanted) {
		found, rest = rest, nil
	}
	switch {
	case errors.Is(err, flag.ErrHelp):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%w%s", err, hint(flags, err.Error()))
	case len(rest) > 0:
		return nil, fmt.Errorf("unexpected argument %q: a command comes first, values of flags follow a = or a blank, and switches take none or =true, =false",
			rest[0])
	case len(found) < len(wanted):
		return nil, fmt.Errorf("want %s, got %q", strings.Join(wanted, " "), found)
	}
	return found, nil
}

// hint returns the usage of the flag in an error of the flag package.
func hint(flags *flag.FlagSet, text string) (hint string) {
	hint = "; -h lists the flags"
	flags.VisitAll(func(f *flag.Flag) {
		_, named, _ := strings.Cut(text, " -"+f.Name)
		if found := strings.Contains(text, " -"+f.Name); found && (named == "" || named[0] == ':') {
			_, usage := flag.UnquoteUsage(f)
			hint = fmt.Sprintf("; -%s is: %s", f.Name, usage)
		}
	})
	return hint
}

// address is the address of a server, or [off].
type address string

func (a *address) String() string { return string(*a) }

// Set implements flag.Value.
func (a *address) Set(value string) error {
	if value != off {
		_, number, err := net.SplitHostPort(value)
		if err != nil {
			return errors.New("want host:port or :port, such as :8080, or 0 for none")
		}
		if n, err := strconv.Atoi(number); err != nil || n < 1 || n > maxPort {
			return fmt.Errorf("port %q: want a number from 1 to %d", number, maxPort)
		}
	}
	*a = address(value)
	return nil
}

// port is the port of a server; 0 disables the server.
type port int

const maxPort = 65535

func (p *port) String() string { return strconv.Itoa(int(*p)) }

// Set implements flag.Value.
func (p *port) Set(value string) error {
	n, err := strconv.Atoi(value)
	if err != nil || n < 0 || n > maxPort {
		return fmt.Errorf("want a number from 1 to %d, or 0 for none", maxPort)
	}
	*p = port(n)
	return nil
}

// boolean is a boolean flag.
type boolean bool

func (b *boolean) String() string { return strconv.FormatBool(bool(*b)) }

// IsBoolFlag allows the flag without a value.
func (*boolean) IsBoolFlag() bool { return true }

// Set implements flag.Value.
func (b *boolean) Set(value string) error {
	set, err := strconv.ParseBool(value)
	if err != nil {
		return errors.New("want true or false")
	}
	*b = boolean(set)
	return nil
}

// namespaces are the namespaces of the operator, sorted; empty means all.
type namespaces []string

func (n *namespaces) String() string { return strings.Join(*n, ",") }

// Set implements flag.Value.
func (n *namespaces) Set(value string) error {
	var names []string
	for name := range strings.SplitSeq(value, ",") {
		if value == "" {
			break
		}
		if problems := validation.IsDNS1123Label(name); len(problems) > 0 {
			return fmt.Errorf("namespace %q: %s", name, strings.Join(problems, "; "))
		}
		names = append(names, name)
	}
	slices.Sort(names)
	*n = slices.Compact(names)
	return nil
}
