// The functions of the AVX2 table, one file a group.
#pragma once

#include "samples/engine/kernels/kernels.h"

namespace dmengine::avx2 {

void matmul_f32(const std::byte* weights, size_t row_bytes, uint32_t rows, const Activations& x, float* out,
                size_t out_stride);
void matmul_f16(const std::byte* weights, size_t row_bytes, uint32_t rows, const Activations& x, float* out,
                size_t out_stride);
void matmul_q8_0(const std::byte* weights, size_t row_bytes, uint32_t rows, const Activations& x, float* out,
                 size_t out_stride);
void quantize(const float* values, uint32_t width, int8_t* quants, float* scales);
void rms_norm(const float* values, const float* weight, uint32_t width, float epsilon, float* out);
void swiglu(float* gate, const float* up, uint32_t width);
void to_half(const float* values, uint32_t width, uint16_t* out);
void attention_f32(const AttentionTask& task);
void attention_f16(const AttentionTask& task);

}  // namespace dmengine::avx2
