package settings

import "github.com/prometheus/client_golang/prometheus"

var _ prometheus.Collector = (*Live[any])(nil)

// The metric is 1 while the stored settings are invalid and older ones are in use, else 0.
func description[T any](l *Live[T]) *prometheus.Desc {
	return prometheus.NewDesc("reconcilekit_settings_invalid", "1 if the stored settings are invalid and the last valid ones are in use, else 0.",
		nil, prometheus.Labels{"configmap": l.source.ConfigMap.String()})
}

// Describe implements prometheus.Collector.
func (l *Live[T]) Describe(descriptions chan<- *prometheus.Desc) { descriptions <- description(l) }

// Collect implements prometheus.Collector.
func (l *Live[T]) Collect(metrics chan<- prometheus.Metric) {
	value := 0.0
	if l.Err() != nil {
		value = 1
	}
	metrics <- prometheus.MustNewConstMetric(description(l), prometheus.GaugeValue, value)
}
