#include <doctest/doctest.h>

#include <cerrno>
#include <vector>

#include "../../../../packages/react-native/ios/core/Existence.h"
#include "../../../../packages/react-native/ios/core/ForkResult.h"
#include "../../../../packages/react-native/ios/core/MachO.h"
#include "../../../../packages/react-native/ios/core/Texts.h"
#include "../../../../packages/react-native/ios/core/Utf8.h"

using namespace drs;

namespace {

using Words = std::vector<std::uint32_t>;

/** Puts load commands into exactly as many bytes as given, so that the sanitizer detects a read beyond them. */
std::optional<bool> encryptedBy(const Words &words, std::size_t count, std::size_t bytes) {
  const auto *first = reinterpret_cast<const std::uint8_t *>(words.data());
  const std::vector<std::uint8_t> commands(first, first + bytes);
  return isEncrypted(commands.data(), commands.size(), count);
}

std::optional<bool> encryptedBy(const Words &words, std::size_t count) {
  return encryptedBy(words, count, words.size() * sizeof(std::uint32_t));
}

}  // namespace

TEST_CASE("encryption is read from the load command of either width") {
  CHECK(encryptedBy({0x19, 12, 0, 0x2C, 24, 4096, 8192, 1, 0}, 2) == true);
  CHECK(encryptedBy({0x2C, 24, 4096, 8192, 0, 0}, 1) == false);
  CHECK(encryptedBy({0x21, 20, 4096, 8192, 1}, 1) == true);
  CHECK(encryptedBy({0x19, 12, 0}, 1) == false);
  CHECK(encryptedBy({}, 0) == false);
}

TEST_CASE("load commands that don't hold what they claim yield no value") {
  CHECK_FALSE(encryptedBy({0x19, 12, 0}, 2));
  CHECK_FALSE(encryptedBy({0x19, 0, 0}, 1));
  CHECK_FALSE(encryptedBy({0x19, 7, 0}, 1));
  CHECK_FALSE(encryptedBy({0x19, 0xFFFFFFFF, 0}, 1));
  CHECK_FALSE(encryptedBy({0x2C, 16, 4096, 8192}, 1));
  CHECK_FALSE(encryptedBy({0x19, 12, 0, 0x2C, 24}, 2, 18));
}

TEST_CASE("bytes that are not UTF-8 become U+FFFD") {
  CHECK(toUtf8("na\xC3\xAFve \xE2\x82\xAC \xF0\x9F\x98\x80", 100) == "na\xC3\xAFve \xE2\x82\xAC \xF0\x9F\x98\x80");
  CHECK(toUtf8("a\xFF"
               "b",
               100) ==
        "a\xEF\xBF\xBD"
        "b");
  CHECK(toUtf8("\xC0\xAF", 100) == "\xEF\xBF\xBD\xEF\xBF\xBD");
  CHECK(toUtf8("\xE2\x82", 100) == "\xEF\xBF\xBD");
  CHECK(toUtf8("\xED\xA0\x80", 100) == "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  CHECK(toUtf8("\xF4\x90\x80\x80", 100) == "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  CHECK(toUtf8("\xF0\x9F\x98"
               "A",
               100) ==
        "\xEF\xBF\xBD"
        "A");
}

TEST_CASE("text is cut at its bound, even within a character") {
  CHECK(toUtf8("abcdef", 3) == "abc");
  CHECK(toUtf8("ab\xE2\x82\xAC", 4) == "ab\xEF\xBF\xBD");
}

TEST_CASE("ports are decimal numbers only") {
  CHECK(portOf("27042") == 27042);
  CHECK(portOf("65535") == 65535);
  for (const char *none : {"", "0", "65536", "-1", "+1", " 22", "22 ", "022", "0x16", "22a"}) CHECK_FALSE(portOf(none));
}

TEST_CASE("the hours of a date pattern are read, not its quoted words") {
  CHECK(shows24Hours("HH:mm") == true);
  CHECK(shows24Hours("kk") == true);
  CHECK(shows24Hours("h a") == false);
  CHECK(shows24Hours("a K") == false);
  CHECK(shows24Hours("HH 'h'") == true);
  CHECK(shows24Hours("'Uhr: H' h a") == false);
  CHECK_FALSE(shows24Hours("mm:ss"));
}

TEST_CASE("a carrier's placeholders are recognised") {
  for (const char *placeholder : {"", "--", "65535"}) CHECK(isCarrierPlaceholder(placeholder));
  for (const char *known : {"208", "01", "-", "655350"}) CHECK_FALSE(isCarrierPlaceholder(known));
}

TEST_CASE("a denied look-up is unknown, but a denied permission to write is an answer") {
  CHECK(existenceOf(0) == Existence::present);
  for (const int error : {ENOENT, ENOTDIR}) CHECK(existenceOf(error) == Existence::absent);
  for (const int error : {EACCES, EPERM, EIO, ELOOP}) CHECK(existenceOf(error) == Existence::unknown);
  for (const int error : {EACCES, EPERM, EROFS, ENOENT}) CHECK(writabilityOf(error) == Existence::absent);
  CHECK(writabilityOf(EIO) == Existence::unknown);
  CHECK(linkOf(EINVAL) == Existence::absent);
  CHECK(linkOf(EPERM) == Existence::unknown);
  CHECK(listenerOf(ECONNREFUSED) == Existence::absent);
  CHECK(listenerOf(ETIMEDOUT) == Existence::unknown);
}

TEST_CASE("an entry that could not be examined is in neither list") {
  const Token token(std::chrono::hours(1));
  const auto look = [](const std::string &name) {
    return name == "a" ? Existence::present : name == "b" ? Existence::absent : Existence::unknown;
  };
  const Presence presence = lookAtAll({"a", "b", "c"}, look, token);
  CHECK(presence.present == std::vector<std::string>{"a"});
  CHECK(presence.absent == std::vector<std::string>{"b"});
}

TEST_CASE("a stopped token ends the look-ups") {
  Token token(std::chrono::hours(1));
  int looks = 0;
  lookAtAll({"a", "b", "c"}, [&](const std::string &) { return ++looks, token.cancel(), Existence::absent; }, token);
  CHECK(looks == 1);
}

TEST_CASE("a fork that fails for lack of memory yields no value") {
  CHECK(mayFork(0) == true);
  for (const int error : {EPERM, ENOSYS}) CHECK(mayFork(error) == false);
  for (const int error : {EAGAIN, ENOMEM}) CHECK_FALSE(mayFork(error));
}
