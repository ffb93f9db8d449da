// Package tas is the controller of TrustyAIService: a service that watches the models of its namespace for bias and drift.
package tas
