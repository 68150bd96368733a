"""
Molecules
=========

Molecules are labelled graphs: atoms are vertices, bonds are edges. The model learns what small alcohols look like.
Then we rank other molecules by how much they differ from these. Drawing and reading molecules needs RDKit:
``pip install '.[molecules]'``.
"""

import matplotlib.pyplot as plt
from rdkit import Chem
from rdkit.Chem import Draw

from eocc import SurpriseClassifier
from eocc.datasets import molecules

ALCOHOLS = """CO CCO CCCO CC(C)O CCCCO CCC(C)O CC(C)CO CC(C)(C)O CCCCCO CCCC(C)O CCC(CC)O CCC(C)CO CC(C)CCO OCCO
CC(O)CO OCCCO CCCCCCO CC(C)C(C)O CC(C)(C)CO CCCCC(C)O"""
clf = SurpriseClassifier().fit(molecules(ALCOHOLS.split()))

# %%
# The p-value is the share of alcohols that look at least as unusual when they are left out of the training set. With
# 20 alcohols it cannot be below 1/21.

new = {
    "heptanol": "CCCCCCCO", "cyclohexanol": "OC1CCCCC1", "ether": "CCOCC", "acetic acid": "CC(=O)O",
    "glycerol": "OCC(O)CO", "toluene": "Cc1ccccc1", "caffeine": "Cn1cnc2c1c(=O)n(C)c(=O)n2C", "thiol": "CCCS",
}  # fmt: skip
p_values = clf.p_values(molecules(list(new.values())))
print(clf.explain(molecules([new["thiol"]]))[0])

# %%
# Sorted from the most normal to the least.

figure, places = plt.subplots(2, 4, figsize=(8, 4.4), layout="constrained")
for axes, (p, name) in zip(places.flat, sorted(zip(p_values, new, strict=True), reverse=True), strict=True):
    axes.imshow(Draw.MolToImage(Chem.MolFromSmiles(new[name]), size=(320, 240)))
    axes.set_title(f"{name}: p = {p:.2f}", color="#0072b2" if p > 0.05 else "#d55e00", fontsize=10)
    axes.axis("off")
figure.suptitle("Learned from 20 alcohols: accepted (blue) and rejected (orange)")
plt.show()
