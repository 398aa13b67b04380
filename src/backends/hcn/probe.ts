import type { Finding, Machine } from "../backend.ts";

/** What is missing here; touches nothing. @param findDll whether Windows has the DLL of HCN */
export function probeHcn({ os }: Machine, findDll: () => boolean): readonly Finding[] {
  if (os !== "win32") {
    return [
      {
        severity: "missing",
        what: `HCN is of Windows; this is ${os}`,
        remedy: "use --to auto; --dry-run shows what Windows would be told",
      },
    ];
  }
  if (findDll()) return [];
  return [
    {
      severity: "missing",
      what: "there is no computenetwork.dll",
      remedy: "Install-WindowsFeature Containers, on Windows Server 2019 or newer",
    },
  ];
}
