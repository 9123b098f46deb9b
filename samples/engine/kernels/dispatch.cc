#include "samples/engine/kernels/kernels.h"
#if defined(DMENGINE_AVX2)
#include <cpuid.h>

#include "samples/engine/kernels/avx2.h"
#endif

namespace dmengine {

#if defined(DMENGINE_AVX2)
namespace {

// clang 14's __builtin_cpu_supports does not know this one.
bool has_f16c() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
}

}  // namespace
#endif

const Kernels* avx2_kernels() {
#if defined(DMENGINE_AVX2)
  static const bool usable = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
  static const Kernels table{
      .name = "avx2",
      .matmul_f32 = avx2::matmul_f32,
      .matmul_f16 = avx2::matmul_f16,
      .matmul_q8_0 = avx2::matmul_q8_0,
      .quantize = avx2::quantize,
      .rms_norm = avx2::rms_norm,
      .swiglu = avx2::swiglu,
      .to_half = avx2::to_half,
      .attention_f32 = avx2::attention_f32,
      .attention_f16 = avx2::attention_f16,
  };
  return usable ? &table : nullptr;
#else
  return nullptr;
#endif
}

const Kernels& best_kernels() {
  const Kernels* vector = avx2_kernels();
  return vector != nullptr ? *vector : portable_kernels();
}

}  // namespace dmengine
