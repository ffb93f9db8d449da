package observe

import "github.com/prometheus/client_golang/prometheus"

// shardWaits collects the number of owners that wait for another shard.
type shardWaits struct {
	owners *prometheus.Desc
	count  func() int64
}

var _ prometheus.Collector = (*shardWaits)(nil)

// RegisterShardWaits registers the number of owners that wait for another shard. It replaces the collector of an earlier controller of
// that name.
func RegisterShardWaits(registry prometheus.Registerer, name string, count func() int64) error {
	return replace(registry, &shardWaits{owners: metricWaiting.describe(name), count: count})
}

// Describe implements prometheus.Collector.
func (s *shardWaits) Describe(descriptions chan<- *prometheus.Desc) { descriptions <- s.owners }

// Collect implements prometheus.Collector.
func (s *shardWaits) Collect(metrics chan<- prometheus.Metric) {
	metrics <- prometheus.MustNewConstMetric(s.owners, prometheus.GaugeValue, float64(s.count()))
}
