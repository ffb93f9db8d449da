// Command demo shows an operator of the examples at work on a real API server:
// it starts a control plane, installs the CRDs, starts the operator as a
// process of its own, applies the samples, and shows owners, conditions and
// children until every owner is ready.
//
// What it knows about a product it finds in examples/<product>:
//
//   - the main package is the operator; its --describe page says which kinds it
//     reconciles and which it owns;
//   - config/crd/*.yaml are its CRDs, other CRDs below config/ belong to
//     somebody else and are installed only where they are missing;
//   - config/webhook/*.yaml are its admission webhooks: the operator serves them
//     with a certificate that lives as long as the demo, and the control plane
//     that the demo starts asks it; on a given cluster they are not installed;
//   - config/samples/*.yaml and demo/objects/*.yaml are the objects to apply;
//   - demo/script.yaml, if there is one, has the life cycle of the product in
//     steps: each says in one line what happens and why, applies, patches or
//     deletes objects, and names the facts that must follow within two minutes.
//     Objects that no step applies are applied first, and must become ready;
//   - standin/, if there is one, is a program that plays the controllers which
//     the cluster does not have. It is not started where such a controller may
//     run: on a given cluster whose foreign CRDs do not come from a demo.
//
// The demo ends with the number of steps, the requests of the operator and the time, and with exit code 1 and the reason if a fact of a step does
// not come. With -readme it writes the steps and facts into the README of the product.
//
// With -fail something goes wrong on purpose when all are ready, instead of the other steps: the demo prints side by side what condition, event, log, metric,
// readiness and explanation show of it, puts it right, and follows the owners until they are ready again. For -fail=spec the product has
// demo/bad-spec.yaml, which is merged into the owner of that name.
package main
