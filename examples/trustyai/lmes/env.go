package lmes

import (
	"cmp"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// executionVariables and offlineVariables depend on permissions, so only the operator sets them.
var (
	executionVariables = []string{"TRUST_REMOTE_CODE", "HF_DATASETS_TRUST_REMOTE_CODE", "UNITXT_ALLOW_UNVERIFIED_CODE", "HF_ALLOW_CODE_EVAL"}
	offlineVariables   = []string{"HF_DATASETS_OFFLINE", "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_EVALUATE_OFFLINE"}
)

// environment is a list of variables.
type environment []corev1.EnvVar

func (e *environment) set(name, value string) {
	*e = append(*e, corev1.EnvVar{Name: name, Value: value})
}

func (e *environment) secret(name string, key *corev1.SecretKeySelector) {
	if key != nil {
		*e = append(*e, corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{SecretKeyRef: key}})
	}
}

// env returns the environment of the main container: the user's variables first, without those that permissions decide.
func (p podOf) env(user []corev1.EnvVar) []corev1.EnvVar {
	spec := &p.job.Spec
	out := environment(slices.DeleteFunc(slices.Clone(user), func(v corev1.EnvVar) bool {
		return slices.Contains(executionVariables, v.Name) || slices.Contains(offlineVariables, v.Name)
	}))
	out.set("HF_HUB_DISABLE_TELEMETRY", "1")
	out.set("DO_NOT_TRACK", "1")
	digit, text := "0", "False"
	if p.settings.executes(spec) {
		digit, text = "1", "True"
	}
	for _, name := range executionVariables {
		value := digit
		if name == "UNITXT_ALLOW_UNVERIFIED_CODE" {
			value = text
		}
		out.set(name, value)
	}
	if !p.settings.online(spec) {
		for _, name := range offlineVariables {
			out.set(name, "1")
		}
		out.set("UNITXT_USE_ONLY_LOCAL_CATALOGS", "True")
	}
	p.bucket(&out)
	p.registry(&out)
	if p.bundle {
		out.set("REQUESTS_CA_BUNDLE", bundlePath)
	}
	return out
}

// bucket appends the variables for the source of models and data sets.
func (p podOf) bucket(out *environment) {
	if p.job.Spec.Offline == nil || p.job.Spec.Offline.Storage.S3 == nil {
		return
	}
	s3 := p.job.Spec.Offline.Storage.S3
	out.secret("AWS_ACCESS_KEY_ID", &s3.AccessKeyID)
	out.secret("AWS_SECRET_ACCESS_KEY", &s3.SecretAccessKey)
	out.secret("AWS_DEFAULT_REGION", &s3.Region)
	out.secret("AWS_S3_BUCKET", &s3.Bucket)
	out.secret("AWS_S3_ENDPOINT", &s3.Endpoint)
	out.set("AWS_PATH", s3.Path)
	out.set("S3_VERIFY_SSL", strconv.FormatBool(ptr.Deref(s3.VerifySSL, true)))
	if s3.CABundle != nil {
		out.set("AWS_CA_BUNDLE", "/etc/certificates/s3/"+s3.CABundle.Key)
	}
}

// registry appends the variables for the destination of results.
func (p podOf) registry(out *environment) {
	if p.job.Spec.Outputs == nil || p.job.Spec.Outputs.OCI == nil {
		return
	}
	oci := p.job.Spec.Outputs.OCI
	out.secret("OCI_REGISTRY", &oci.Registry)
	out.set("OCI_REPOSITORY", oci.Repository)
	out.set("OCI_TAG", cmp.Or(oci.Tag, p.job.Name))
	if oci.Subject != "" {
		out.set("OCI_SUBJECT", oci.Subject)
	}
	out.secret("OCI_USERNAME", oci.Username)
	out.secret("OCI_PASSWORD", oci.Password)
	out.set("OCI_VERIFY_SSL", strconv.FormatBool(ptr.Deref(oci.VerifySSL, true)))
}
