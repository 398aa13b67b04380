/* A stand-in for computenetwork.dll and, with HNS_DLL, for vmcompute.dll. It keeps the JSON that it gets, and
 * checks that ids exist; what a real HNS does with the JSON, it does not do. With STAND_IN_STORE in the
 * environment, what it holds is written there at every change, and read from there at the start: so it
 * outlives the process, as HNS does. */
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#include <objbase.h>
/* The true signatures: what differs from them does not compile. */
#include <computenetwork.h>
#include <stdio.h>
#include <wchar.h>

static PWSTR copy(const WCHAR *text) {
  size_t bytes = (wcslen(text) + 1) * sizeof(WCHAR);
  PWSTR out = CoTaskMemAlloc(bytes);
  if (out) memcpy(out, text, bytes);
  return out;
}

#ifdef HNS_DLL
HRESULT WINAPI HNSCall(PCWSTR method, PCWSTR path, PCWSTR object, PWSTR *response) {
  (void)object;
  if (wcscmp(method, L"GET") || wcscmp(path, L"/globals/version")) return E_INVALIDARG;
  *response = copy(L"{\"Success\":true,\"Output\":{\"Major\":15,\"Minor\":5}}");
  return S_OK;
}
#else
#define NETWORK 0
#define ENDPOINT 1
#define LOAD_BALANCER 2

struct object {
  GUID id;
  WCHAR *json;
  struct object *next;
};
static struct object *objects[3];
static const HRESULT not_found[3] = {0x803b0001, 0x803b0002, 0x803b0008};
static const WCHAR *names[3] = {L"Network", L"Endpoint", L"LoadBalancer"};
static SRWLOCK lock = SRWLOCK_INIT;
static LONG open_handles;
static LONG calls;
/* So long an enumeration takes. */
static volatile LONG slow_ms;
#define WATCHERS 8
static HCN_NOTIFICATION_CALLBACK watchers[WATCHERS];

static void write_store(void) {
  WCHAR path[MAX_PATH];
  FILE *file;
  int kind;
  if (!GetEnvironmentVariableW(L"STAND_IN_STORE", path, MAX_PATH)) return;
  file = _wfopen(path, L"wb");
  if (!file) return;
  for (kind = 0; kind < 3; kind += 1) {
    struct object *one;
    for (one = objects[kind]; one; one = one->next) {
      fprintf(file, "%ls ", names[kind]);
      for (WCHAR *at = one->json; *at; at += 1) fputc(*at < 128 ? (char)*at : '?', file);
      fputc('\n', file);
    }
  }
  fprintf(file, "handles %ld\n", (long)open_handles);
  fclose(file);
}

static struct object *find(int kind, const GUID *id) {
  struct object *one = objects[kind];
  while (one && memcmp(&one->id, id, sizeof *id)) one = one->next;
  return one;
}

static BOOL is_open(int kind, void *handle) {
  struct object *one;
  AcquireSRWLockShared(&lock);
  for (one = objects[kind]; one && one != handle; one = one->next) {}
  ReleaseSRWLockShared(&lock);
  return one != NULL;
}

static HRESULT refuse(HRESULT code, PWSTR *error) {
  WCHAR text[96];
  swprintf(text, 96, L"{\"Success\":false,\"Error\":\"stand-in\",\"ErrorCode\":%lu}", (unsigned long)code);
  if (error) *error = copy(text);
  return code;
}

static HRESULT create(int kind, const GUID *id, PCWSTR json, void **handle, PWSTR *error) {
  struct object *one;
  InterlockedIncrement(&calls);
  AcquireSRWLockExclusive(&lock);
  if (find(kind, id)) {
    ReleaseSRWLockExclusive(&lock);
    return refuse(0x800700b7, error);
  }
  one = calloc(1, sizeof *one);
  one->id = *id;
  one->json = _wcsdup(json);
  one->next = objects[kind];
  objects[kind] = one;
  write_store();
  ReleaseSRWLockExclusive(&lock);
  InterlockedIncrement(&open_handles);
  *handle = one;
  return S_OK;
}

static HRESULT open(int kind, const GUID *id, void **handle, PWSTR *error) {
  struct object *one;
  InterlockedIncrement(&calls);
  AcquireSRWLockShared(&lock);
  one = find(kind, id);
  ReleaseSRWLockShared(&lock);
  if (!one) return refuse(not_found[kind], error);
  InterlockedIncrement(&open_handles);
  *handle = one;
  return S_OK;
}

static HRESULT closed(void *handle) {
  (void)handle;
  InterlockedIncrement(&calls);
  InterlockedDecrement(&open_handles);
  return S_OK;
}

static HRESULT query(void *handle, PWSTR *properties) {
  InterlockedIncrement(&calls);
  AcquireSRWLockShared(&lock);
  *properties = copy(((struct object *)handle)->json);
  ReleaseSRWLockShared(&lock);
  return S_OK;
}

static HRESULT modify(void *handle, PCWSTR json) {
  struct object *one = handle;
  InterlockedIncrement(&calls);
  AcquireSRWLockExclusive(&lock);
  free(one->json);
  one->json = _wcsdup(json);
  write_store();
  ReleaseSRWLockExclusive(&lock);
  return S_OK;
}

static HRESULT removed(int kind, const GUID *id, PWSTR *error) {
  struct object **at, *one;
  InterlockedIncrement(&calls);
  AcquireSRWLockExclusive(&lock);
  for (at = &objects[kind]; *at && memcmp(&(*at)->id, id, sizeof *id); at = &(*at)->next) {}
  one = *at;
  if (one) *at = one->next;
  write_store();
  ReleaseSRWLockExclusive(&lock);
  if (!one) return refuse(not_found[kind], error);
  free(one->json);
  free(one);
  return S_OK;
}

static HRESULT enumerate(int kind, PWSTR *result) {
  struct object *one;
  size_t count = 0;
  WCHAR *out, *at;
  InterlockedIncrement(&calls);
  Sleep(slow_ms);
  AcquireSRWLockShared(&lock);
  for (one = objects[kind]; one; one = one->next) count += 1;
  out = at = CoTaskMemAlloc((count * 48 + 4) * sizeof(WCHAR));
  *at++ = L'[';
  for (one = objects[kind]; one; one = one->next) {
    WCHAR id[40];
    StringFromGUID2(&one->id, id, 40);
    id[37] = 0;
    at += swprintf(at, 48, L"%ls\"%ls\"", one == objects[kind] ? L"" : L",", id + 1);
  }
  *at++ = L']';
  *at = 0;
  ReleaseSRWLockShared(&lock);
  *result = out;
  return S_OK;
}

#define COMMON(X, S, K)                                                                                   \
  HRESULT WINAPI HcnEnumerate##S(PCWSTR q, PWSTR *r, PWSTR *e) { (void)q; (void)e; return enumerate(K, r); } \
  HRESULT WINAPI HcnOpen##X(REFGUID id, void **h, PWSTR *e) { return open(K, id, h, e); }                 \
  HRESULT WINAPI HcnClose##X(void *h) { return closed(h); }                                               \
  HRESULT WINAPI HcnQuery##X##Properties(void *h, PCWSTR q, PWSTR *p, PWSTR *e) {                         \
    (void)q; (void)e; return query(h, p);                                                                 \
  }                                                                                                       \
  HRESULT WINAPI HcnModify##X(void *h, PCWSTR s, PWSTR *e) { (void)e; return modify(h, s); }              \
  HRESULT WINAPI HcnDelete##X(REFGUID id, PWSTR *e) { return removed(K, id, e); }
COMMON(Network, Networks, NETWORK)
COMMON(Endpoint, Endpoints, ENDPOINT)
COMMON(LoadBalancer, LoadBalancers, LOAD_BALANCER)

/* Held while watchers are told. */
static SRWLOCK telling = SRWLOCK_INIT;

static DWORD WINAPI tell(void *event) {
  int at;
  AcquireSRWLockShared(&telling);
  for (at = 0; at < WATCHERS; at += 1) {
    HCN_NOTIFICATION_CALLBACK watcher = watchers[at];
    if (watcher) watcher((DWORD)(DWORD_PTR)event, NULL, S_OK, L"{}");
  }
  ReleaseSRWLockShared(&telling);
  return 0;
}

HRESULT WINAPI HcnCreateNetwork(REFGUID id, PCWSTR s, void **h, PWSTR *e) {
  HRESULT result = create(NETWORK, id, s, h, e);
  /* The real service tells of it on a thread of its own. */
  if (result == S_OK) CloseHandle(CreateThread(NULL, 0, tell, (void *)HcnNotificationNetworkCreate, 0, NULL));
  return result;
}
HRESULT WINAPI HcnCreateEndpoint(void *network, REFGUID id, PCWSTR s, void **h, PWSTR *e) {
  if (!is_open(NETWORK, network)) return refuse(not_found[NETWORK], e);
  return create(ENDPOINT, id, s, h, e);
}
HRESULT WINAPI HcnCreateLoadBalancer(REFGUID id, PCWSTR s, void **h, PWSTR *e) {
  return create(LOAD_BALANCER, id, s, h, e);
}
HRESULT WINAPI HcnRegisterServiceCallback(HCN_NOTIFICATION_CALLBACK wanted, void *context, HCN_CALLBACK *handle) {
  int at;
  (void)context;
  for (at = 0; at < WATCHERS; at += 1) {
    if (watchers[at]) continue;
    watchers[at] = wanted;
    *handle = &watchers[at];
    return S_OK;
  }
  return E_OUTOFMEMORY;
}
/* As the real one does (hcsshim says so of its sister): notices on their way are waited for. */
HRESULT WINAPI HcnUnregisterServiceCallback(void *handle) {
  AcquireSRWLockExclusive(&telling);
  *(HCN_NOTIFICATION_CALLBACK *)handle = NULL;
  ReleaseSRWLockExclusive(&telling);
  return S_OK;
}

/* Of the stand-in alone. */
LONG WINAPI StandInOpenHandles(void) { return open_handles; }
LONG WINAPI StandInRestart(void) {
  CloseHandle(CreateThread(NULL, 0, tell, (void *)HcnNotificationServiceDisconnect, 0, NULL));
  return 0;
}
LONG WINAPI StandInSlow(LONG ms) { return slow_ms = ms; }
/* With those that open and close. */
LONG WINAPI StandInCalls(void) { return calls; }

static void put_network(void) {
  const GUID id = {0x0f5f6e1c, 0x0f5e, 0x4d5c, {0x9f, 0x0a, 0x2b, 0x7e, 0x8f, 0x9d, 0x1c, 0x11}};
  void *handle;
  create(NETWORK, &id,
         L"{\"ID\":\"0f5f6e1c-0f5e-4d5c-9f0a-2b7e8f9d1c11\",\"Name\":\"cbr0\",\"Type\":\"L2Bridge\","
         L"\"Ipams\":[{\"Subnets\":[{\"IpAddressPrefix\":\"10.1.0.0/24\"},{\"IpAddressPrefix\":\"fd01::/64\"}]}]}",
         &handle, NULL);
  open_handles = 0;
  calls = 0;
}

static void put_line(char *line) {
  WCHAR json[65536], id[40] = L"{00000000-0000-0000-0000-000000000000}";
  WCHAR *at;
  GUID guid;
  int kind;
  void *handle;
  for (kind = 0; kind < 3; kind += 1) {
    size_t length = wcslen(names[kind]);
    char name[16];
    snprintf(name, sizeof name, "%ls ", names[kind]);
    if (strncmp(line, name, length + 1)) continue;
    MultiByteToWideChar(CP_UTF8, 0, line + length + 1, -1, json, 65536);
    at = wcsstr(json, L"\"ID\":\"");
    if (!at) return;
    memcpy(id + 1, at + 6, 36 * sizeof(WCHAR));
    if (IIDFromString(id, &guid) == S_OK) create(kind, &guid, json, &handle, NULL);
    return;
  }
}

/* FALSE where there is no store yet. */
static BOOL read_store(void) {
  WCHAR path[MAX_PATH];
  char *text, *line;
  long bytes;
  FILE *file;
  if (!GetEnvironmentVariableW(L"STAND_IN_STORE", path, MAX_PATH)) return FALSE;
  file = _wfopen(path, L"rb");
  if (!file) return FALSE;
  fseek(file, 0, SEEK_END);
  bytes = ftell(file);
  rewind(file);
  text = calloc(1, bytes + 1);
  bytes = (long)fread(text, 1, bytes, file);
  fclose(file);
  for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) put_line(line);
  free(text);
  open_handles = 0;
  calls = 0;
  return bytes > 0;
}

BOOL WINAPI DllMain(HINSTANCE dll, DWORD reason, void *reserved) {
  (void)dll;
  (void)reserved;
  if (reason == DLL_PROCESS_ATTACH && !read_store()) put_network();
  return TRUE;
}
#endif
