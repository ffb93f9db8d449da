package lmes

import (
	"strconv"
	"time"

	"github.com/reconcilekit/reconcilekit/reconcile"
	corev1 "k8s.io/api/core/v1"
)

// settings are the settings of the operator; settingsOf lists the keys. An invalid value counts as its default.
type settings struct {
	pullPolicy                    corev1.PullPolicy
	maxBatch, port                int
	defaultBatch                  string
	detectDevice                  bool
	interval                      time.Duration // between two requests to the driver
	permitOnline, permitExecution bool
}

// settingsOf reads the settings. If the ConfigMap of the platform exists, it overrides both permissions.
func settingsOf(config, platform reconcile.FetchResult[*corev1.ConfigMap]) settings {
	s := settings{
		pullPolicy: corev1.PullAlways, maxBatch: 24, defaultBatch: "1", port: defaultPort, detectDevice: true,
		interval: 10 * time.Second,
	}
	if config.Value != nil {
		data := config.Value.Data
		switch p := corev1.PullPolicy(data["lmes-image-pull-policy"]); p {
		case corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever:
			s.pullPolicy = p
		}
		if interval, err := time.ParseDuration(data["lmes-pod-checking-interval"]); err == nil && interval > 0 {
			s.interval = interval
		}
		positive(&s.maxBatch, data["lmes-max-batch-size"])
		positive(&s.port, data["lmes-driver-port"])
		if size := data["lmes-default-batch-size"]; batchPattern.MatchString(size) {
			s.defaultBatch = size
		}
		if detect, err := strconv.ParseBool(data["lmes-detect-device"]); err == nil {
			s.detectDevice = detect
		}
		s.permitOnline, s.permitExecution = permitted(data["lmes-allow-online"]), permitted(data["lmes-allow-code-execution"])
	}
	if platform.Value != nil {
		data := platform.Value.Data
		s.permitOnline, s.permitExecution = permitted(data["eval.lmeval.permitOnline"]), permitted(data["eval.lmeval.permitCodeExecution"])
	}
	return s
}

// permitted reports whether a permission is granted. An invalid value grants none.
func permitted(text string) bool {
	given, _ := strconv.ParseBool(text) // false with an error
	return given
}

func positive(into *int, text string) {
	if n, err := strconv.Atoi(text); err == nil && n > 0 {
		*into = n
	}
}
