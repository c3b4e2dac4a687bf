-- Generation that runs the model over the whole sequence for each new token. Recognized by recorded sizes: queries of
-- attention grow from pass to pass together with its keys, by one token or a few. With a cache only the keys grow.
return {
  id        = "inference/no-key-value-cache",
  title     = "Keep keys and values in a cache instead of computing all tokens again",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  effort    = "code",
  priority  = 85,
  explains  = { "step/drift", "kernel/slowing-down", "kernel/hot" },
  knowledge = { "K-A7", "K-C5" },

  loss           = "tokens.recomputed",
  applies        = "count",
  not_applicable = "no passes run over sequences that grow token by token",
  evidence       = { "count", "length", "added" },
  thresholds     = { "min_share" },

  symptom = "Each pass of a generation computes its whole sequences again: {length:count} tokens in the longest, {added:count} more than in the pass before. What earlier passes have computed takes {share:pct} of the time.",
  cause   = "Without a key-value cache, every new token costs as much as the whole prompt. With one, attention reads the keys and values of earlier tokens, and all other layers work on the new token alone.",
  fixes   = {
    { action  = "Keep the cache that the model returns, and feed it only the new tokens",
      snippet = "out = model(input_ids=prompt, use_cache=True)            # the prompt, once\nout = model(input_ids=next_token, past_key_values=out.past_key_values, use_cache=True)",
      language = "python", ["for"] = { "pytorch" } },
    { action  = "Let the library generate, with a cache of fixed size that can be compiled",
      snippet = "model.generate(ids, max_new_tokens=256, cache_implementation=\"static\")",
      language = "python", ["for"] = { "pytorch" } },
    { action = "In a hand-written model, store the keys and values of each layer in a buffer, and append those of the new token" },
    { action = "Compute the logits of the last token alone" },
  },
  false_positives = "Models in which tokens also attend to later ones: there, a new token changes all others. Batches sorted by length that happen to grow so evenly.",
  references = { "pytorch/compile" },

  saving = { confidence = 0.8, basis = "passes after the first compute their new tokens alone, and read weights, keys and values once" },

  tests = {
    { name = "a prompt of a thousand tokens is computed for each new one",
      edges = { ["tokens.recomputed.lost"] = 5e7 },
      facts = { window = { device_time = 1e9 },
                tokens = { recomputed = { count = 8, length = 1059, added = 1, lost = 5e8, remedy = true } } },
      expect = { share = 0.5, count = 8, length = 1059, added = 1 },
      saving = { claims = 5e8, confidence = 0.8 } },
    { name = "near miss: sequences are short",
      facts = { window = { device_time = 1e9 },
                tokens = { recomputed = { count = 8, length = 20, added = 1, lost = 2e7, remedy = true } } },
      expect = "silent" },
    { name = "only keys grow",
      facts = { window = { device_time = 1e9 },
                tokens = { recomputed = { count = 0, length = 0, added = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "sizes were not recorded", facts = { window = { device_time = 1e9 } }, expect = "cannot_tell" },
  },
}
