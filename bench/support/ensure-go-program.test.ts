import { expect, test } from "vitest";
import { goModFor } from "./ensure-go-program.ts";

test("modules that Kubernetes has in its repository are taken as they are published", () => {
  const text = goModFor(
    "module k8s.io/kubernetes\n\ngo 1.26.0\n\nreplace (\n\tk8s.io/api => ./staging/src/k8s.io/api\n\tk8s.io/client-go => ./staging/src/k8s.io/client-go\n)\n",
  );
  expect(text.split("\n")).toEqual([
    "module portolan.bench/kubernetes",
    "go 1.26.0",
    "require k8s.io/kubernetes v1.36.3",
    "replace k8s.io/api => k8s.io/api v0.36.3",
    "replace k8s.io/client-go => k8s.io/client-go v0.36.3",
    "",
  ]);
});
