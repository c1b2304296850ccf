// ARC, weak references and flexible instance variables for GCC's `libobjc`, so that clang's code runs on it. It is only
// for tests, on x86-64. Code is compiled with `-fobjc-arc -fobjc-runtime=gnustep-1.8`. This file corrects the classes
// that clang emits before it registers them with `libobjc`, and implements the functions that ARC calls by `-retain`,
// `-release` and `-autorelease`.
#define _GNU_SOURCE
#include <Block.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef void *id;
typedef void *SEL;
typedef void *(*IMP)(id, SEL, ...);

extern id look_up_class(const char *name) __asm__("objc_lookup_class");
extern IMP objc_msg_lookup(id receiver, SEL selector);
extern IMP objc_msg_lookup_super(void *super, SEL selector);
extern SEL sel_registerName(const char *name);
extern long class_getInstanceSize(id class);
extern void *class_getInstanceMethod(id class, SEL selector);
extern IMP method_setImplementation(void *method, IMP implementation);

// ---- classes as clang emits them (the GNU ABI, version 8)

struct ivars {
  int count;
  struct {
    const char *name, *type;
    int offset;
  } list[];
};

struct class {
  struct class *isa;
  void *super;
  const char *name;
  long version;
  unsigned long info;
  long size;
  struct ivars *ivars;
  void *methods, *dispatch, *subclass, *sibling;
  struct protocols *protocols;
  void *collector;
  long abi;
  int **offsets;
  void *properties;
};

struct protocol {
  intptr_t isa;
  const char *name;
  struct protocols *parents;
  void *instance_methods, *class_methods;
};

struct protocols {
  struct protocols *next;
  size_t count;
  struct protocol *list[];
};

struct category {
  const char *class_name, *name;
  void *instance_methods, *class_methods;
  struct protocols *protocols;
};

struct symbols {
  unsigned long selector_count;
  void *selectors;
  unsigned short class_count, category_count;
  void *definitions[];
};

struct module {
  unsigned long version, size;
  const char *name;
  struct symbols *symbols;
};

enum { PROTOCOL_OF_CLANG = 3, PROTOCOL_OF_GCC = 2, INFO_OF_GCC = 3, VERSION_OF_GCC = 8 };

static void adapt_protocol(struct protocol *protocol);

static void adapt_protocols(struct protocols *chain) {
  for (; chain; chain = chain->next)
    for (size_t index = 0; index < chain->count; index++) adapt_protocol(chain->list[index]);
}

static void adapt_protocol(struct protocol *protocol) {
  if (!protocol || protocol->isa != PROTOCOL_OF_CLANG) return;
  protocol->isa = PROTOCOL_OF_GCC;
  adapt_protocols(protocol->parents);
}

static struct class *seen[4096];
static int seen_count;

static struct class *find_seen(const char *name) {
  for (int index = 0; index < seen_count; index++)
    if (!strcmp(seen[index]->name, name)) return seen[index];
  return NULL;
}

// A size that is not positive is the size of the class's own instance variables. They start after the variables of the
// superclass, whose size is known only at run time.
static long lay_out(struct class *class) {
  if (class->size > 0) return class->size;
  const char *super_name = class->super;
  long base = 0;
  if (super_name) {
    struct class *super = find_seen(super_name);
    base = super ? lay_out(super) : class_getInstanceSize(look_up_class(super_name));
  }
  base = (base + 7) & ~7L;
  for (int index = 0; class->ivars && index < class->ivars->count; index++) {
    class->ivars->list[index].offset += base;
    *class->offsets[index] = class->ivars->list[index].offset;
  }
  return class->size = base - class->size;
}

// Every object file registers its classes by this call.
void __objc_exec_class(struct module *module) {
  static void (*real)(struct module *);
  if (!real) real = (void (*)(struct module *))dlsym(RTLD_NEXT, "__objc_exec_class");
  module->version = VERSION_OF_GCC;
  module->size = sizeof *module;
  struct symbols *symbols = module->symbols;
  void **definition = symbols->definitions;
  int first = seen_count;
  for (int index = 0; index < symbols->class_count; index++) {
    if (seen_count == sizeof seen / sizeof *seen) abort();
    seen[seen_count++] = *definition++;
  }
  for (int index = first; index < seen_count; index++) {
    struct class *class = seen[index];
    lay_out(class);
    class->info &= INFO_OF_GCC;
    class->isa->info &= INFO_OF_GCC;
    adapt_protocols(class->protocols);
    adapt_protocols(class->isa->protocols);
  }
  for (int index = 0; index < symbols->category_count; index++)
    adapt_protocols(((struct category *)*definition++)->protocols);
  for (void **statics = *definition; statics && *statics; statics++) {
    struct {
      const char *class_name;
      struct protocol *instances[];
    } *group = *statics;
    if (strcmp(group->class_name, "Protocol")) continue;
    for (int index = 0; group->instances[index]; index++) adapt_protocol(group->instances[index]);
  }
  real(module);
}

// ---- sending: saves every argument register, looks the method up and jumps to it

#define SENDER(NAME, RECEIVER, SELECTOR)                                                                      \
  __asm__(".globl " NAME "\n.type " NAME ",@function\n" NAME                                                  \
          ":\n"                                                                                               \
          " push %rbp\n mov %rsp,%rbp\n sub $192,%rsp\n"                                                      \
          " movups %xmm0,(%rsp)\n movups %xmm1,16(%rsp)\n movups %xmm2,32(%rsp)\n movups %xmm3,48(%rsp)\n"    \
          " movups %xmm4,64(%rsp)\n movups %xmm5,80(%rsp)\n movups %xmm6,96(%rsp)\n movups %xmm7,112(%rsp)\n" \
          " mov %rdi,128(%rsp)\n mov %rsi,136(%rsp)\n mov %rdx,144(%rsp)\n mov %rcx,152(%rsp)\n"              \
          " mov %r8,160(%rsp)\n mov %r9,168(%rsp)\n mov %rax,176(%rsp)\n"                                     \
          " mov " RECEIVER ",%rdi\n mov " SELECTOR                                                            \
          ",%rsi\n call objc_msg_lookup@PLT\n mov %rax,%r11\n"                                                \
          " movups (%rsp),%xmm0\n movups 16(%rsp),%xmm1\n movups 32(%rsp),%xmm2\n movups 48(%rsp),%xmm3\n"    \
          " movups 64(%rsp),%xmm4\n movups 80(%rsp),%xmm5\n movups 96(%rsp),%xmm6\n movups 112(%rsp),%xmm7\n" \
          " mov 128(%rsp),%rdi\n mov 136(%rsp),%rsi\n mov 144(%rsp),%rdx\n mov 152(%rsp),%rcx\n"              \
          " mov 160(%rsp),%r8\n mov 168(%rsp),%r9\n mov 176(%rsp),%rax\n leave\n jmp *%r11\n")

SENDER("objc_msgSend", "128(%rsp)", "136(%rsp)");
SENDER("objc_msgSend_fpret", "128(%rsp)", "136(%rsp)");
SENDER("objc_msgSend_stret", "136(%rsp)", "144(%rsp)");

struct slot {
  void *owner, *class, *types;
  int version;
  IMP method;
};

void *objc_slot_lookup_super(void *super, SEL selector) {
  static __thread struct slot slots[16];
  static __thread int next;
  struct slot *slot = &slots[next++ & 15];
  slot->method = objc_msg_lookup_super(super, selector);
  return slot;
}

// ---- ARC

#define SELECTOR(NAME)                                \
  ({                                                  \
    static SEL selector;                              \
    if (!selector) selector = sel_registerName(NAME); \
    selector;                                         \
  })

static id send(id receiver, SEL selector) {
  return ((id(*)(id, SEL))objc_msg_lookup(receiver, selector))(receiver, selector);
}

extern void *_NSConcreteStackBlock[], *_NSConcreteMallocBlock[], *_NSConcreteGlobalBlock[];

static void *isa_of(id object) { return *(void **)object; }
// A block that does not escape counts as a global one, because it is on the stack and counting its references would
// corrupt its flags.
static int is_global_block(id object) { return isa_of(object) == _NSConcreteGlobalBlock; }
static int is_block(id object) {
  return isa_of(object) == _NSConcreteStackBlock || isa_of(object) == _NSConcreteMallocBlock;
}

id objc_retain(id object) {
  if (!object || is_global_block(object)) return object;
  return is_block(object) ? _Block_copy(object) : send(object, SELECTOR("retain"));
}
void objc_release(id object) {
  if (!object || is_global_block(object)) return;
  if (is_block(object)) {
    _Block_release(object);
  } else {
    send(object, SELECTOR("release"));
  }
}
id objc_autorelease(id object) {
  if (!object || is_global_block(object) || is_block(object)) return object;
  return send(object, SELECTOR("autorelease"));
}
id objc_retainBlock(id block) { return objc_retain(block); }
id objc_autoreleaseReturnValue(id object) { return objc_autorelease(object); }
id objc_retainAutoreleasedReturnValue(id object) { return objc_retain(object); }
id objc_retainAutorelease(id object) { return objc_autorelease(objc_retain(object)); }
id objc_retainAutoreleaseReturnValue(id object) { return objc_retainAutorelease(object); }
id objc_unsafeClaimAutoreleasedReturnValue(id object) { return object; }
void objc_storeStrong(id *place, id object) {
  id old = *place;
  *place = objc_retain(object);
  objc_release(old);
}
void *objc_autoreleasePoolPush(void) { return send(look_up_class("NSAutoreleasePool"), SELECTOR("new")); }
void objc_autoreleasePoolPop(void *pool) { send(pool, SELECTOR("drain")); }
id objc_alloc(id class) { return send(class, SELECTOR("alloc")); }
id objc_alloc_init(id class) { return send(objc_alloc(class), SELECTOR("init")); }

// ---- weak references: a table, emptied by `-[NSObject dealloc]`

static struct {
  id *place, object;
} weak[65536];
static int weak_count;
static pthread_mutex_t weak_lock = PTHREAD_MUTEX_INITIALIZER;
static IMP real_dealloc;

static void *dealloc(id self, SEL selector, ...) {
  pthread_mutex_lock(&weak_lock);
  for (int index = 0; index < weak_count; index++) {
    if (weak[index].object != self) continue;
    *weak[index].place = NULL;
    weak[index--] = weak[--weak_count];
  }
  pthread_mutex_unlock(&weak_lock);
  return real_dealloc(self, selector);
}

id objc_storeWeak(id *place, id object) {
  pthread_mutex_lock(&weak_lock);
  if (!real_dealloc) {
    void *method = class_getInstanceMethod(look_up_class("NSObject"), SELECTOR("dealloc"));
    real_dealloc = method_setImplementation(method, (IMP)dealloc);
  }
  for (int index = 0; index < weak_count; index++) {
    if (weak[index].place != place) continue;
    weak[index] = weak[--weak_count];
    break;
  }
  *place = object;
  if (object) {
    if (weak_count == sizeof weak / sizeof *weak) abort();
    weak[weak_count].place = place;
    weak[weak_count++].object = object;
  }
  pthread_mutex_unlock(&weak_lock);
  return object;
}
id objc_initWeak(id *place, id object) {
  *place = NULL;
  return objc_storeWeak(place, object);
}
void objc_destroyWeak(id *place) { objc_storeWeak(place, NULL); }
id objc_loadWeakRetained(id *place) {
  pthread_mutex_lock(&weak_lock);
  id object = objc_retain(*place);
  pthread_mutex_unlock(&weak_lock);
  return object;
}
id objc_loadWeak(id *place) { return objc_autorelease(objc_loadWeakRetained(place)); }
void objc_copyWeak(id *to, id *from) {
  id object = objc_loadWeakRetained(from);
  objc_initWeak(to, object);
  objc_release(object);
}
void objc_moveWeak(id *to, id *from) {
  objc_copyWeak(to, from);
  objc_destroyWeak(from);
}

// ---- properties

static void set_property(id owner, id value, ptrdiff_t offset, int copies) {
  id *place = (id *)((char *)owner + offset);
  id old = *place;
  if (!value || !copies || is_block(value) || is_global_block(value)) {
    *place = objc_retain(value);
  } else {
    *place = send(value, SELECTOR("copy"));
  }
  objc_release(old);
}
id objc_getProperty(id owner, SEL selector, ptrdiff_t offset, signed char atomic) {
  id value = *(id *)((char *)owner + offset);
  return atomic ? objc_retainAutorelease(value) : value;
}
void objc_setProperty(id owner, SEL selector, ptrdiff_t offset, id value, signed char atomic, signed char copies) {
  set_property(owner, value, offset, copies);
}
void objc_setProperty_nonatomic_copy(id owner, SEL selector, id value, ptrdiff_t offset) {
  set_property(owner, value, offset, 1);
}
void objc_setProperty_atomic_copy(id owner, SEL selector, id value, ptrdiff_t offset) {
  set_property(owner, value, offset, 1);
}
void objc_setProperty_nonatomic(id owner, SEL selector, id value, ptrdiff_t offset) {
  set_property(owner, value, offset, 0);
}
void objc_setProperty_atomic(id owner, SEL selector, id value, ptrdiff_t offset) {
  set_property(owner, value, offset, 0);
}
