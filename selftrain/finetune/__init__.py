"""Fine-tuning on pairs, an accelerate program: from texts to a model or an adapter.

The loop is in train.py, the page to read first; prepare.py sets it up, and everywhere.py does it in
all processes. lessons.py says what is learnt. A text becomes tokens in pieces.py, tokens fill
blocks in blocks.py, blocks become what a model reads at once in batch.py, learner.py gives the
loss. Models are loaded in selftrain/models.py; the texts are made in selftrain/prompts.py. A
verifier learns in verifier/learning/. Nothing is imported here: half of the files do without torch.
"""
