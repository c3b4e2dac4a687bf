-- A recurrent layer written as a loop over time steps: for each step a few small products and the kernel of a cell.
-- cuDNN runs all steps of a layer in a few kernels that keep the weights on the chip.
return {
  id        = "kernel/recurrent-cells",
  title     = "Use a whole recurrent layer instead of a loop of cells",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  effort    = "code",
  priority  = 66,
  explains  = { "kernel/small-grid", "kernel/many-tiny", "kernel/hot", "step/low-mfu" },
  knowledge = { "K-C5" },

  loss           = "family.recurrent_cells",
  not_applicable = "no kernels of recurrent cells run",
  evidence       = { count = "per_step" },
  thresholds     = { "min_share", "min_count" },

  symptom = "The kernels of recurrent cells take {share:pct} of the time: {count:count} {per:text}, each with products of its own.",
  cause   = "A loop in Python computes one time step after the other. Each step launches small kernels that read the weights of the layer again.",
  fixes   = {
    { action  = "Give the layer the whole sequence: cuDNN then computes all time steps in a few kernels",
      snippet = [[layer = torch.nn.LSTM(dim, hidden, batch_first=True)   # instead of a loop over torch.nn.LSTMCell
out, (h, c) = layer(x)          # x: batch, time, features; also torch.nn.GRU, torch.nn.RNN]],
      language = "python", ["for"] = { "pytorch" } },
    { action = "If each time step needs the result of the one before it, record the loop in a CUDA graph, or compile it",
      snippet = 'step = torch.compile(step, mode="reduce-overhead")', language = "python", ["for"] = { "pytorch" } },
    { action = "Compute the products of all inputs before the loop, in one product: only the hidden state has to wait" },
  },
  false_positives = "Decoders that feed each output back as the next input. Layers in a form that cuDNN lacks.",
  references = { "pytorch/tuning-guide" },

  saving = { remedy = "remedy", confidence = 0.5, basis = "the kernels of the cells are part of the kernels of the layer" },

  tests = {
    { name = "a loop over 150 time steps",
      edges = { ["family.recurrent_cells.lost"] = 3e7, ["family.recurrent_cells.per_step"] = 20 },
      facts = { window = { device_time = 1e9 }, family = { recurrent_cells = { per_step = 300, lost = 1.2e8, remedy = true } } },
      expect = { share = 0.12, count = 300 },
      saving = { claims = 1.2e8, confidence = 0.5 } },
    { name = "near miss: cells are the least of the work",
      facts = { window = { device_time = 1e9 }, family = { recurrent_cells = { per_step = 300, lost = 1e7, remedy = true } } },
      expect = "silent" },
    { name = "near miss: a few time steps",
      facts = { window = { device_time = 1e9 }, family = { recurrent_cells = { per_step = 8, lost = 1.2e8, remedy = true } } },
      expect = "silent" },
    { name = "no such cells",
      facts = { window = { device_time = 1e9 }, family = { recurrent_cells = { per_step = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "nothing was recorded", facts = {}, expect = "cannot_tell" },
  },
}
