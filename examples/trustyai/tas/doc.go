// Package tas reconciles TrustyAIService: a service that watches the models of its namespace for bias and drift.
package tas
