// Package certificate issues the certificate of a webhook server, renews it while the process runs, and writes the trusted
// certificates into the webhook configurations and CRDs of the server.
//
// All replicas share one Secret. They update it with its resourceVersion, so one replica creates a certificate and all
// serve it. A renewal has two steps, so that no call fails: first all clients trust the next certificate in addition to the
// served one, then the server serves it. Certificates are self-signed and trusted directly, so no key of an authority is
// stored.
//
//	keeper := certificate.New(certificate.Config{Client: c, Service: service, Clients: clients})
//	options.TLSOpts = append(options.TLSOpts, keeper.Configure)
//	server := keeper.Serve(webhook.NewServer(options)) // also runs keeper.Start
package certificate
