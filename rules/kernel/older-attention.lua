-- FlashAttention 2 on a GPU that has newer units for it. Its kernels use neither the asynchronous matrix units nor the bulk
-- copies of Hopper, so they reach about half of what kernels written for that GPU reach. Where sizes were recorded, the rate
-- of each call says more than the name.
return {
  id        = "kernel/older-attention",
  title     = "Use attention kernels that were written for this GPU",
  status    = "experimental",
  since     = "0.2",
  kind      = "info",
  priority  = 12,
  effort    = "flag",
  knowledge = { "K-H1" },

  needs      = { "family.flash_attention_2.lost", "window.device_time", "hw.compute_capability" },
  optional   = { "roofline.below.attention.lost" },
  thresholds = { "min_share", "min_mean", "min_capability", "max_capability" },

  symptom = "Kernels of FlashAttention 2 take {share:pct} of the time: {count:count} in the window, {mean:time} each on average.",
  cause   = "They were written for Ampere, and do not use the matrix units and copy engines that this GPU has in addition.",
  fixes   = {
    { action  = "Let PyTorch use the kernels of cuDNN, and measure again",
      snippet = "from torch.nn.attention import SDPBackend, sdpa_kernel\nwith sdpa_kernel(SDPBackend.CUDNN_ATTENTION):\n    out = F.scaled_dot_product_attention(q, k, v)", language = "python", ["for"] = { "pytorch" } },
    { action = "On Hopper, use FlashAttention 3, the package flash_attn_interface from the folder hopper/ of flash-attention", ["for"] = { "pytorch" } },
  },
  false_positives = "Head sizes, masks or types that the newer kernels lack, and short sequences, where they win little.",
  references = { "nvidia/gpu-background" },

  applies = function(f, t)
    local capability = f.hw.compute_capability
    if not at_least(capability, t.min_capability) or not at_most(capability, t.max_capability) then
      return false, "this GPU has no units that FlashAttention 2 leaves unused"
    end
    if f.roofline.below.attention.lost then return false, "sizes were recorded: kernel/slow-attention judges by them" end
    return f.family.flash_attention_2.lost.count > 0, "no kernel of FlashAttention 2 runs"
  end,

  detect = function(f, t)
    local lost = f.family.flash_attention_2.lost
    local part, mean = share(lost.time, f.window.device_time), lost.time / lost.count
    if not at_least(part, t.min_share) or not at_least(mean, t.min_mean) then return nil end
    return { share = part, count = lost.count, mean = mean }
  end,

  tests = {
    { name = "nearly half of the time on a Hopper GPU",
      facts = { window = { device_time = 3e8 }, hw = { compute_capability = 9.0 }, family = { flash_attention_2 = { lost = { time = 1.36e8, count = 34 } } } },
      expect = { share = 1.36 / 3, count = 34, mean = 4e6 } },
    { name = "a tenth of the time, in calls of 0.1 ms", edges = { ["window.device_time"] = 1e8 },
      facts = { window = { device_time = 1e8 }, hw = { compute_capability = 9.0 }, family = { flash_attention_2 = { lost = { time = 1e7, count = 95 } } } },
      expect = { count = 95 } },
    { name = "calls at the shortest length", edges = { ["window.device_time"] = 1e8 },
      facts = { window = { device_time = 1e8 }, hw = { compute_capability = 10.0 }, family = { flash_attention_2 = { lost = { time = 1e7, count = 80 } } } },
      expect = { count = 80 } },
    { name = "near miss: short sequences",
      facts = { window = { device_time = 1e8 }, hw = { compute_capability = 9.0 }, family = { flash_attention_2 = { lost = { time = 5e7, count = 600 } } } },
      expect = "silent" },
    { name = "near miss: a sliver",
      facts = { window = { device_time = 1e9 }, hw = { compute_capability = 9.0 }, family = { flash_attention_2 = { lost = { time = 7e7, count = 100 } } } },
      expect = "silent" },
    { name = "Ampere", facts = { window = { device_time = 1e8 }, hw = { compute_capability = 8.0 }, family = { flash_attention_2 = { lost = { time = 5e7, count = 95 } } } },
      expect = "not_applicable" },
    { name = "a GPU for workstations", facts = { window = { device_time = 1e8 }, hw = { compute_capability = 12.0 }, family = { flash_attention_2 = { lost = { time = 5e7, count = 95 } } } },
      expect = "not_applicable" },
    { name = "sizes were recorded",
      facts = { window = { device_time = 1e8 }, hw = { compute_capability = 9.0 }, roofline = { below = { attention = { lost = 0 } } },
                family = { flash_attention_2 = { lost = { time = 5e7, count = 95 } } } },
      expect = "not_applicable" },
    { name = "another attention", facts = { window = { device_time = 1e8 }, hw = { compute_capability = 9.0 }, family = { flash_attention_2 = { lost = { time = 0, count = 0 } } } },
      expect = "not_applicable" },
    { name = "the GPU is not known", facts = { window = { device_time = 1e8 }, family = { flash_attention_2 = { lost = { time = 5e7, count = 95 } } } },
      expect = "cannot_tell" },
  },
}
