// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "nereid/Target/CPU/Loader.h"

#include "MathSymbols.h"

#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/TargetSelect.h"

#include <atomic>
#include <mutex>

using namespace nereid::cpu;
using namespace llvm;

/// One load at a time, so that what the linker reports belongs to it.
static std::mutex loadMutex;
/// What the linker reported while loading; its returned errors leave it out.
static std::string linkerReport;

/// One linker for the process; each object has a library of its own.
static Expected<orc::LLJIT *> getLinker() {
  static std::unique_ptr<orc::LLJIT> *linker = nullptr; // never destroyed: code may outlive static objects
  if (!linker) {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
    auto created = orc::LLJITBuilder()
                       .setLinkProcessSymbolsByDefault(false)
                       .setPlatformSetUp(orc::setUpInactivePlatform)
                       .create();
    if (!created)
      return created.takeError();
    (*created)->getExecutionSession().setErrorReporter([](Error error) {
      if (!linkerReport.empty())
        linkerReport += "; ";
      linkerReport += toString(std::move(error));
    });
    linker = new std::unique_ptr<orc::LLJIT>(std::move(*created));
  }
  return linker->get();
}

struct LoadedCode::State {
  orc::LLJIT *linker = nullptr;
  orc::JITDylib *library = nullptr;
};

LoadedCode::~LoadedCode() {
  std::lock_guard<std::mutex> lock(loadMutex);
  if (state && state->library)
    if (auto error = state->linker->getExecutionSession().removeJITDylib(*state->library))
      consumeError(std::move(error));
}

Expected<std::unique_ptr<LoadedCode>> nereid::cpu::loadObject(StringRef object, StringRef name,
                                                              ArrayRef<Symbol> symbols) {
  std::unique_ptr<LoadedCode> code(new LoadedCode); // unloads after the lock is gone
  std::lock_guard<std::mutex> lock(loadMutex);
  linkerReport.clear();
  auto linker = getLinker();
  if (!linker)
    return linker.takeError();
  static std::atomic<uint64_t> count{0};
  auto library = (*linker)->createJITDylib("kernel" + std::to_string(count++));
  if (!library)
    return library.takeError();
  code->state = std::make_unique<LoadedCode::State>();
  code->state->linker = *linker;
  code->state->library = &*library;

  orc::SymbolMap map;
  auto add = [&](StringRef symbol, void *address) {
    map[(*linker)->mangleAndIntern(symbol)] = {orc::ExecutorAddr::fromPtr(address),
                                               JITSymbolFlags::Exported | JITSymbolFlags::Callable};
  };
  for (const Symbol &symbol : mathSymbols())
    add(symbol.name, symbol.address);
  for (const Symbol &symbol : symbols)
    add(symbol.name, symbol.address);
  if (auto error = library->define(orc::absoluteSymbols(std::move(map))))
    return std::move(error);
  if (auto error = (*linker)->addObjectFile(*library, MemoryBuffer::getMemBufferCopy(object, name)))
    return std::move(error);
  auto address = (*linker)->lookup(*library, name);
  if (!address) {
    std::string message = toString(address.takeError());
    return createStringError(linkerReport.empty() ? message : linkerReport);
  }
  code->entry = address->toPtr<void *>();
  return code;
}
