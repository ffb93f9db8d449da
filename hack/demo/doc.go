// Command demo runs an operator of the examples on a real API server: it starts a control plane, installs the CRDs, starts the operator
// as a separate process, applies the samples, and shows owners, conditions and children until every owner is ready.
//
// It reads the files in examples/<product>:
//
//   - the main package is the operator; its --describe page lists the kinds that it reconciles and owns;
//   - config/crd/*.yaml are its CRDs; other CRDs below config/ are foreign and are installed only if they are missing;
//   - config/webhook/*.yaml are its admission webhooks: the operator serves them with a temporary certificate; on an existing cluster
//     they are not installed;
//   - config/samples/*.yaml and demo/objects/*.yaml are the objects to apply;
//   - demo/script.yaml, if it exists, describes the life cycle of the product in steps: each has a description, applies, patches or
//     deletes objects, and lists the facts that must follow within two minutes. Objects that no step applies are applied first, and must
//     become ready;
//   - standin/, if it exists, is a program that simulates controllers that the cluster lacks. It is not started if such a controller may
//     run: on an existing cluster whose foreign CRDs were not installed by a demo.
//
// At the end the demo prints the number of steps, the requests of the operator and the time. If a fact of a step does not become true, it
// prints the reason and exits with code 1. With -readme it writes the steps and facts into the README of the product.
//
// With -fail the demo causes a failure after all owners are ready, instead of the other steps. It prints the condition, event, log,
// metric, readiness and explanation of the failure, repairs it, and waits until the owners are ready again. -fail=spec merges
// demo/bad-spec.yaml into the owner with its name.
package main
