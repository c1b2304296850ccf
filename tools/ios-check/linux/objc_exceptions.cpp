// Implements Objective-C exceptions as C++ exceptions, so that @try, @catch and @finally work in clang's .mm on GCC's
// `libobjc`.
#include <cstdint>
#include <cstdio>
#include <typeinfo>

extern "C" {
void *objc_lookup_class(const char *name);
void *sel_registerName(const char *name);
void *objc_msg_lookup(void *receiver, void *selector);
void *objc_retain(void *object);
int __gxx_personality_v0(int version, int actions, std::uint64_t kind, void *exception, void *context);
}

namespace {

struct Thrown {
  void *object;
};

bool isKindOf(void *object, const char *name) {
  void *wanted = objc_lookup_class(name);
  void *selector = sel_registerName("isKindOfClass:");
  const auto method = reinterpret_cast<bool (*)(void *, void *, void *)>(objc_msg_lookup(object, selector));
  return wanted != nullptr && method(object, selector, wanted);
}

}  // namespace

// clang refers to these types in the tables of @catch. libstdc++ asks them whether they catch a thrown object.
namespace gnustep::libobjc {

struct __objc_class_type_info : std::type_info {
  explicit __objc_class_type_info(const char *name) : std::type_info(name) {}
  ~__objc_class_type_info() override;
  bool __do_catch(const std::type_info *thrown, void **pointer, unsigned) const override {
    if (*thrown != typeid(Thrown)) return false;
    void *object = static_cast<Thrown *>(*pointer)->object;
    if (!isKindOf(object, name())) return false;
    *pointer = object;
    return true;
  }
};
__objc_class_type_info::~__objc_class_type_info() = default;

struct __objc_id_type_info : std::type_info {
  __objc_id_type_info() : std::type_info("@id") {}
  ~__objc_id_type_info() override;
  bool __do_catch(const std::type_info *thrown, void **pointer, unsigned) const override {
    if (*thrown != typeid(Thrown)) return false;
    *pointer = static_cast<Thrown *>(*pointer)->object;
    return true;
  }
};
__objc_id_type_info::~__objc_id_type_info() = default;

}  // namespace gnustep::libobjc

extern "C" {

gnustep::libobjc::__objc_id_type_info __objc_id_type_info;

[[noreturn]] void objc_exception_throw(void *object) {
  objc_retain(object);
  throw Thrown{object};
}

int __gnustep_objcxx_personality_v0(int version, int actions, std::uint64_t kind, void *exception, void *context) {
  return __gxx_personality_v0(version, actions, kind, exception, context);
}
}
