"""The corpus of Table 5 from public XML
=====================================

**Question.** How is a corpus of documents in two languages made?

The paper's corpus was not available. The closest public one is the consolidated laws of Canada. To make it::

    git clone https://github.com/justicecanada/laws-lois-xml
    python examples/make_laws_corpus.py laws-lois-xml laws.npz
    python examples/paper table5 --full --corpus laws.npz

Without arguments, the script does the same with three small documents.
"""

import sys
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path

import matplotlib.pyplot as plt

from dcgev_cvx.datasets import corpus_from_texts, read_corpus

FOLDERS = {"eng/acts": "fra/lois", "eng/regulations": "fra/reglements"}
PREFIXES = {"SOR-": "DORS-", "SI-": "TR-", "C.R.C.,_c._": "C.R.C.,_ch._"}

# %%
# Three documents in both languages, in the folders of the public repository:
SMALL = {
    "eng/acts/A-1.xml": "The carrier shall keep a record of every ship. The record names the ship and the port.",
    "fra/lois/A-1.xml": "Le transporteur tient un registre des navires. Le registre nomme le navire et le port.",
    "eng/regulations/SOR-99-1.xml": "A ship in port pays a fee. The port keeps the record of the fee of each ship.",
    "fra/reglements/DORS-99-1.xml": "Le navire au port paie un droit. Le port tient le registre du droit du navire.",
    "eng/regulations/SI-99-2.xml": "The fee of a carrier is set by the port; the carrier pays the fee to the port.",
    "fra/reglements/TR-99-2.xml": "Le droit du transporteur est fixé au port; le transporteur paie le droit au port.",
}


def laws_of_canada(root, least_words=100):
    """Every document of enough words in both languages; the XML is under the Open Government Licence – Canada."""
    found = []
    for folder, other in FOLDERS.items():
        for path in sorted((Path(root) / folder).glob("*.xml")):
            prefix = next((prefix for prefix in PREFIXES if path.name.startswith(prefix)), "")
            partner = Path(root) / other / (PREFIXES.get(prefix, "") + path.name.removeprefix(prefix))
            if partner.is_file():
                texts = [" ".join(ET.parse(file).getroot().itertext()) for file in (path, partner)]
                if min(len(text.split()) for text in texts) >= least_words:
                    found.append((*texts, f"{folder}/{path.name}"))
    if not found:
        raise SystemExit(f"{root} holds no document in both languages: clone the repository, with eng and fra.")
    return corpus_from_texts(*zip(*found, strict=True), "consolidated laws of Canada")


# %%
# Each document becomes a bag of words: stop words are removed, the others are counted.
if len(sys.argv) == 3 and sys.argv[2].endswith(".npz"):
    laws_of_canada(sys.argv[1]).save(sys.argv[2])
    print(read_corpus(sys.argv[2]))
else:
    with tempfile.TemporaryDirectory() as root:
        for name, text in SMALL.items():
            (Path(root) / name).parent.mkdir(parents=True, exist_ok=True)
            (Path(root) / name).write_text(f"<Statute><Text>{text}</Text></Statute>", encoding="utf-8")
        corpus = laws_of_canada(root, least_words=10)
    for name, english, french in zip(corpus.documents, corpus.E, corpus.F, strict=True):
        words = (", ".join(corpus.words[side][j] for j in bag.indices) for side, bag in enumerate((english, french)))
        print(f"{name}: " + " | ".join(words))

    # how often each English word occurs in each document
    figure, ax = plt.subplots(figsize=(6.4, 3.0), layout="constrained")
    ax.imshow(corpus.E.toarray(), cmap="Greys")
    ax.set_xticks(range(corpus.E.shape[1]), corpus.words[0], rotation=60)
    ax.set_yticks(range(corpus.E.shape[0]), corpus.documents)
    figure.savefig("make_laws_corpus.png")

# %%
# **Conclusion.** A corpus is two matrices of word counts with the same rows. ``read_corpus`` reads it back.
